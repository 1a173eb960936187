"""What the source papers demand, one or several files for each paper: each test states the demands that it shows, with number and section."""
