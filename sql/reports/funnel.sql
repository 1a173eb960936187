-- Rejected items of each stage. `outcomes` has the declared outcomes of each table (`s2corpus.outcomes`), in order.

-- table: PDFs filtered out before extraction (S2ORC Table 8)
-- columns: Filter, Number of PDFs
SELECT label, count(outcome) FROM (FROM outcomes WHERE table_name = 'selections') LEFT JOIN selections ON outcome = word
GROUP BY rank, label ORDER BY rank;

-- table: Answers of the extractor
-- columns: Outcome, Number of PDFs
SELECT outcome, count(*) FROM extractions GROUP BY outcome ORDER BY count(*) DESC, outcome;

-- table: Post-processing data quality filters for papers (S2ORC Table 2)
-- columns: Filter, Number of papers
SELECT coalesce(label, outcome) AS filter, count(outcome)
FROM (FROM outcomes WHERE table_name = 'filtered') FULL JOIN filtered ON outcome = word
GROUP BY rank, filter ORDER BY rank, filter;

-- table: Documents by set and outcome
-- columns: Set, Outcome, Number of documents
SELECT "set", outcome, count(*) FROM documents GROUP BY ALL ORDER BY "set" DESC, count(*) DESC, outcome;

-- table: Documents by split
-- columns: Set, Split, Number of documents
SELECT "set", split, count(*) FROM splits GROUP BY ALL ORDER BY "set" DESC, split;
