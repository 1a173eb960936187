"""What is published: files whose bytes depend on their content only, and the pointer to the newest whole snapshot."""
