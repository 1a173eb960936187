-- Every paper with a canonical PDF has its full text, which is open or closed like the paper.

-- check: every_canonical_pdf_has_its_text
-- severity: block
-- overridable: no
-- by: paper
-- reason: full texts were lost in assemble: clear it
SELECT paper_id FROM papers ANTI JOIN (SELECT paper_id FROM fulltexts WHERE parse_kind = 'pdf') USING (paper_id) WHERE canonical_pdf IS NOT NULL;

-- check: every_latex_parse_is_there
-- severity: block
-- overridable: no
-- by: paper
-- reason: LaTeX parses were lost in assemble: clear it
SELECT paper_id FROM papers ANTI JOIN (SELECT paper_id FROM fulltexts WHERE parse_kind = 'latex') USING (paper_id) WHERE latex_parse_id IS NOT NULL;

-- check: every_article_is_there
-- severity: block
-- overridable: no
-- by: paper
-- reason: publishers' full texts were lost in assemble: clear it
SELECT paper_id, kind FROM (
  SELECT paper_id, one.kind AS kind, one.sha1 AS file_sha1 FROM (SELECT paper_id, unnest(access) AS one FROM papers)
) ANTI JOIN fulltexts USING (paper_id, file_sha1) WHERE kind IN (SELECT kind FROM article_parses);

-- check: access_is_the_files
-- severity: block
-- overridable: no
-- by: paper
-- reason: a full text is marked open although its file is closed, or closed although its file is open
SELECT paper_id, parse_kind FROM fulltexts ANTI JOIN (
  SELECT paper_id, one.sha1 AS file_sha1, one.open_access AS open_access FROM (SELECT paper_id, unnest(access) AS one FROM papers)
) USING (paper_id, file_sha1, open_access);

-- check: entries_resolve
-- severity: block
-- overridable: no
-- by: paper
-- reason: a bibliography entry without its full text
SELECT paper_id, ref_id FROM entries ANTI JOIN fulltexts USING (paper_id, parse_kind);

-- check: drift_of_gold
-- severity: drift
-- reason: precision or recall, measured with identifiers or publishers' XML, changed by more than the threshold since the parent release: look for a changed source, extractor or rule
SELECT 'xml_title precision' AS measure, * FROM drift('assemble', 'gold.xml_title.right', 'gold.xml_title.predicted', $threshold, $drift_min_n)
UNION ALL SELECT 'xml_title recall' AS measure, * FROM drift('assemble', 'gold.xml_title.found', 'gold.xml_title.known', $threshold, $drift_min_n)
UNION ALL SELECT 'xml_authors precision' AS measure, * FROM drift('assemble', 'gold.xml_authors.right', 'gold.xml_authors.predicted', $threshold, $drift_min_n)
UNION ALL SELECT 'xml_authors recall' AS measure, * FROM drift('assemble', 'gold.xml_authors.found', 'gold.xml_authors.known', $threshold, $drift_min_n)
UNION ALL SELECT 'xml_abstract precision' AS measure, * FROM drift('assemble', 'gold.xml_abstract.right', 'gold.xml_abstract.predicted', $threshold, $drift_min_n)
UNION ALL SELECT 'xml_abstract recall' AS measure, * FROM drift('assemble', 'gold.xml_abstract.found', 'gold.xml_abstract.known', $threshold, $drift_min_n)
UNION ALL SELECT 'xml_bibliography precision' AS measure, * FROM drift('assemble', 'gold.xml_bibliography.right', 'gold.xml_bibliography.predicted', $threshold, $drift_min_n)
UNION ALL SELECT 'xml_bibliography recall' AS measure, * FROM drift('assemble', 'gold.xml_bibliography.found', 'gold.xml_bibliography.known', $threshold, $drift_min_n)
UNION ALL SELECT 'xml_citations precision' AS measure, * FROM drift('assemble', 'gold.xml_citations.right', 'gold.xml_citations.predicted', $threshold, $drift_min_n)
UNION ALL SELECT 'xml_citations recall' AS measure, * FROM drift('assemble', 'gold.xml_citations.found', 'gold.xml_citations.known', $threshold, $drift_min_n);
