"""Store tables: the lake, parts and commits, engines, and transient errors."""
