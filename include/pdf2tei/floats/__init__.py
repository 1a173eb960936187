"""Find figures and tables."""
