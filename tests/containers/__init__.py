"""Check the image and compose with a container engine."""
