"""Read the pages of a PDF: the layout that pdfalto reports, with its faults corrected."""
