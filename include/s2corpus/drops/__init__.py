"""Work on drops as they arrive, before a release, by the same stages and the same runner."""
