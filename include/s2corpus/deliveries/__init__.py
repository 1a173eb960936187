"""What is delivered: drops of files and deliveries of metadata, registered, listed, uploaded."""
