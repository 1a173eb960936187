-- Every extraction has exactly one parse, or the reason for its absence.

-- check: headers_are_not_delivered
-- severity: block
-- overridable: no
-- reason: a source has the name of the extractor, so its records have the ids of PDF headers: ask its deliverer to use another name
SELECT record_id FROM records SEMI JOIN pdf_records USING (record_id);

-- check: every_extraction_has_a_parse
-- severity: block
-- overridable: no
-- by: pdf
-- reason: extractions were lost or added in postprocess: clear it
SELECT file_sha1 FROM extractions ANTI JOIN parses USING (file_sha1) UNION ALL SELECT file_sha1 FROM parses ANTI JOIN extractions USING (file_sha1);

-- check: every_latex_source_has_its_outcome
-- severity: block
-- overridable: no
-- by: pdf
-- reason: LaTeX sources were lost or added in postprocess: clear it
SELECT archive_sha1 FROM latex_sources ANTI JOIN latex_parses USING (archive_sha1)
UNION ALL SELECT archive_sha1 FROM latex_parses ANTI JOIN latex_sources USING (archive_sha1)
UNION ALL SELECT archive_sha1 FROM latex_parses GROUP BY ALL HAVING count(*) > 1;

-- check: every_article_has_its_outcome
-- severity: block
-- overridable: no
-- by: pdf
-- reason: publishers' full texts were lost or added in postprocess: clear it
SELECT file_sha1 FROM articles ANTI JOIN article_parses USING (file_sha1)
UNION ALL SELECT file_sha1 FROM article_parses ANTI JOIN articles USING (file_sha1)
UNION ALL SELECT file_sha1 FROM article_parses GROUP BY ALL HAVING count(*) > 1;

-- check: every_parse_has_a_record
-- severity: block
-- overridable: no
-- by: pdf
-- reason: a parsed PDF has no record of its header
SELECT file_sha1 FROM parses ANTI JOIN pdf_records USING (file_sha1) WHERE outcome = 'ok' AND kind = 'pdf';

-- check: drift_of_parsed_pdfs
-- severity: drift
-- reason: the share of parsed_pdfs changed by more than the threshold since the parent release: look for a changed source, extractor or rule
FROM drift('postprocess', 'outcome.ok', 'rows', $threshold, $drift_min_n);
