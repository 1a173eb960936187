"""Process drops on arrival, with the stages and the runner of releases."""
