"""Training of the reference CRF: strings rendered from metadata with CSL styles. Needs requirements-dev.txt."""
