-- Every selected PDF has exactly one answer.

-- check: every_selected_pdf_has_an_answer
-- severity: block
-- overridable: no
-- by: pdf
-- reason: PDFs were lost or added between select and extract: clear extract
SELECT file_sha1 FROM selections ANTI JOIN extractions USING (file_sha1) WHERE outcome = 'selected'
UNION ALL SELECT file_sha1 FROM extractions ANTI JOIN (FROM selections WHERE outcome = 'selected') USING (file_sha1);

-- check: what_is_ok_is_stored
-- severity: block
-- overridable: no
-- by: pdf
-- reason: the store lacks an answer with the outcome ok
SELECT file_sha1, outcome FROM extractions WHERE (outcome = 'ok') <> (stored IS NOT NULL AND tei_sha1 IS NOT NULL) AND outcome = 'ok';

-- check: one_extractor
-- severity: block
-- overridable: no
-- reason: two versions of the extractor answered, but a release uses one: clear extract from its plan
FROM (SELECT extractor, version, options_hash, count(*) AS pdfs FROM extractions GROUP BY ALL) QUALIFY count(*) OVER () > 1;

-- check: extractor_has_its_own_name
-- severity: block
-- overridable: no
-- reason: the extractor has the name of a metadata source of this release, so their records are confused: rename one of them
SELECT DISTINCT extractor FROM extractions SEMI JOIN (SELECT source FROM deliveries WHERE kind = 'delivery' AND outcome = 'taken') AS d
ON extractor = d.source;

-- check: few_given_up
-- severity: warn
-- threshold: extract.max_failure_rate
-- reason: the extractor gave up on more PDFs than the allowed share: check the servers and clear extract; otherwise the next release tries these PDFs again
SELECT count(*) FILTER (outcome LIKE 'gave_up:%') AS given_up, count(*) AS pdfs FROM extractions HAVING given_up > $threshold * pdfs;

-- check: drift_of_extracted_pdfs
-- severity: drift
-- reason: the share of extracted_pdfs changed by more than the threshold since the parent release: look for a changed source, extractor or rule
FROM drift('extract', 'outcome.ok', 'rows', $threshold, $drift_min_n);
