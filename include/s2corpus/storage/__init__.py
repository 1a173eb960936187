"""Where tables lie: the lake, parts and commits, engines, what passes and is tried again."""
