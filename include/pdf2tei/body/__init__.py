"""Read the body: sections, paragraphs, notes, inline citations, back matter."""
