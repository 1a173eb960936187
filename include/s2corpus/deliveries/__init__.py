"""Register, list and upload drops of files and deliveries of metadata."""
