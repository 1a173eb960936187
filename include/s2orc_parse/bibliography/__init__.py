"""Parse authors, dates, identifiers and other fields of papers and bibliography entries from all usual notations."""
