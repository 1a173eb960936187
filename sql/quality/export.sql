-- The snapshot is what its manifest says.

-- check: published_is_what_was_split
-- severity: block
-- overridable: no
-- reason: the number of documents in the snapshot is not the number in train and valid
SELECT (SELECT count(*) FROM splits WHERE split IN ('train', 'valid')) AS documents, (SELECT coalesce(sum(value), 0) FROM metrics WHERE stage = 'export' AND name LIKE 'documents.%') AS published WHERE documents <> published;
