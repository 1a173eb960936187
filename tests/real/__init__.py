"""Check the release of real papers."""
