"""What the source papers demand, one file per paper: each test states the demands that it shows, with number and section."""
