"""Convert full text (GROBID TEI, JATS, Elsevier JSON, LaTeX) to S2ORC JSON."""
