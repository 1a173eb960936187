"""Full text as GROBID TEI, JATS, Elsevier JSON or LaTeX to S2ORC JSON."""
