"""What a lake contains, and what can be deleted."""
