"""List the contents of a lake, and the data that can be deleted."""
