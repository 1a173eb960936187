"""What the source papers demand, in one or several files for each paper: a test states its demands with number and section."""
