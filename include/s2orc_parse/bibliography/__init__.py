"""Authors, dates, identifiers and other fields of papers and of bibliography entries, from the forms that sources print."""
