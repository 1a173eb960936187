"""Train the reference CRF on strings rendered from metadata with CSL styles. Needs requirements-dev.txt."""
