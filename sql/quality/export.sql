-- The snapshot is what its manifest says.

-- check: published_is_what_was_split
-- severity: block
-- overridable: no
-- reason: the number of documents in the snapshot is not the number in train and valid
SELECT (SELECT count(*) FROM splits WHERE split IN ('train', 'valid')) AS documents, (SELECT coalesce(sum(value), 0) FROM metrics WHERE stage = 'export' AND name LIKE 'documents.%') AS published WHERE documents <> published;

-- check: one_code
-- severity: block
-- overridable: no
-- reason: the tables of this release were made by different versions of the code (an upgrade in the middle of it): clear the release from intake on
SELECT code_version, min(table_name) AS for_example, count(*) AS tables FROM commits WHERE (SELECT count(DISTINCT code_version) FROM commits) > 1 GROUP BY code_version;
