-- Every PDF has exactly one outcome.

-- check: selections_key_is_unique
-- severity: block
-- overridable: no
-- by: pdf
-- reason: a key occurs twice in selections: the stage wrote a row twice; clear it and report the key
SELECT file_sha1, count(*) AS times FROM selections GROUP BY ALL HAVING times > 1;

-- check: every_pdf_has_an_outcome
-- severity: block
-- overridable: no
-- by: pdf
-- reason: PDFs were lost or invented between intake and select: clear both stages
SELECT file_sha1 FROM pdfs ANTI JOIN selections USING (file_sha1) UNION ALL SELECT file_sha1 FROM selections ANTI JOIN pdfs USING (file_sha1);

-- check: outcome_is_known
-- severity: block
-- overridable: no
-- by: pdf
-- reason: an outcome that the specification does not list
SELECT file_sha1, outcome FROM selections WHERE outcome NOT IN ('unreadable', 'encrypted', 'too_many_pages', 'landscape', 'pdfalto_failed', 'selected');

-- check: drift_of_selected_pdfs_warn
-- severity: warn
-- threshold: quality.drift_warn
-- reason: the share of selected_pdfs moved against the parent release by more than the threshold: look for a source, extractor or rule that changed
FROM drift('select', 'outcome.selected', 'rows', $threshold, $drift_min_n);

-- check: drift_of_selected_pdfs_block
-- severity: block
-- overridable: yes
-- threshold: quality.drift_block
-- reason: the share of selected_pdfs moved against the parent release by more than the threshold: look for a source, extractor or rule that changed
FROM drift('select', 'outcome.selected', 'rows', $threshold, $drift_min_n);
