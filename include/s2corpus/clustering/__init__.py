"""Records to clusters: which records are one paper, and its id over releases."""
