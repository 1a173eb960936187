"""One module a command; each exposes `command`. Loaded by `s2corpus.cli` only when called."""
