-- What was left out, and where.

-- table: PDFs filtered out before extraction (S2ORC Table 8)
-- columns: Filter, Number of PDFs
SELECT label, count(*) FILTER (outcome = word)
FROM selections RIGHT JOIN (VALUES
  (1, 'unreadable', 'PyPDF error'), (2, 'encrypted', 'Needs a password'), (3, 'too_many_pages', 'Too many pages'),
  (4, 'landscape', 'Page width > height'), (5, 'pdfalto_failed', 'PDFAlto error'), (6, 'selected', 'Selected')
) AS filters (rank, word, label) ON outcome = word
GROUP BY rank, label ORDER BY rank;

-- table: Answers of the extractor
-- columns: Outcome, Number of PDFs
SELECT outcome, count(*) FROM extractions GROUP BY outcome ORDER BY count(*) DESC, outcome;

-- table: Post-processing data quality filters for papers (S2ORC Table 2)
-- columns: Filter, Number of papers
SELECT label, count(*) FILTER (outcome = word)
FROM filtered RIGHT JOIN (VALUES
  (1, 'suppressed', 'Suppressed'), (2, 'no_title', 'No title'), (3, 'no_authors', 'No authors'),
  (4, 'short_text', 'Too few characters of text'), (5, 'not_english', 'Not English'), (6, 'kept', 'Kept')
) AS filters (rank, word, label) ON outcome = word
GROUP BY rank, label ORDER BY rank;

-- table: Documents by set and outcome
-- columns: Set, Outcome, Number of documents
SELECT "set", outcome, count(*) FROM documents GROUP BY ALL ORDER BY "set" DESC, count(*) DESC, outcome;

-- table: Documents by split
-- columns: Set, Split, Number of documents
SELECT "set", split, count(*) FROM splits GROUP BY ALL ORDER BY "set" DESC, split;
