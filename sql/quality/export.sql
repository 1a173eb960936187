-- The snapshot agrees with its manifest.

-- check: published_is_what_was_split
-- severity: block
-- overridable: no
-- reason: the snapshot and the splits train and valid have different numbers of documents
SELECT (SELECT count(*) FROM splits WHERE split IN ('train', 'valid')) AS documents, (SELECT coalesce(sum(value), 0) FROM metrics WHERE stage = 'export' AND name LIKE 'documents.%') AS published WHERE documents <> published;

-- check: everything_has_its_license
-- severity: block
-- overridable: no
-- reason: an abstract or a parse of a kept paper has no row in tables/rights, which has its license and evidence
WITH kept AS (SELECT paper_id FROM filtered WHERE outcome = 'kept'),
  abstracts AS (SELECT paper_id FROM papers SEMI JOIN kept USING (paper_id) WHERE abstract <> ''),
  parses AS (SELECT paper_id FROM fulltexts SEMI JOIN kept USING (paper_id))
SELECT (SELECT count(*) FROM abstracts) + (SELECT count(*) FROM parses) AS there, (SELECT coalesce(sum(value), 0) FROM metrics WHERE stage = 'export' AND name = 'rights') AS listed WHERE there <> listed;

-- check: everything_has_its_evidence
-- severity: block
-- overridable: no
-- by: paper
-- reason: the text of a kept paper has no evidence of open access, or its abstract has no source
WITH kept AS (SELECT paper_id FROM filtered WHERE outcome = 'kept')
SELECT paper_id, 'abstract' AS of FROM papers SEMI JOIN kept USING (paper_id) WHERE abstract <> '' AND coalesce(provenance['abstract'].source, '') = ''
UNION ALL SELECT paper_id, parse_kind AS of FROM fulltexts SEMI JOIN kept USING (paper_id) WHERE open_access AND coalesce(oa_evidence, '') = '';

-- check: one_code
-- severity: block
-- overridable: no
-- reason: the tables of this release were made by different versions of the code (an upgrade during the release): clear the release from intake
SELECT code_version, min(table_name) AS for_example, count(*) AS tables FROM commits WHERE (SELECT count(DISTINCT code_version) FROM commits) > 1 GROUP BY code_version;
