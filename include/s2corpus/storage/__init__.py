"""Where tables lie: the lake, parts and commits, engines, transient errors."""
