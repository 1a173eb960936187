"""Records to papers: which records are one paper, its id over releases, its canonical metadata, whether it stays."""
