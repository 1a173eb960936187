"""Read a paper's front: title, authors, abstract, identifiers."""
