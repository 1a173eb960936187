-- Every PDF has exactly one outcome.

-- check: every_pdf_has_an_outcome
-- severity: block
-- overridable: no
-- by: pdf
-- reason: PDFs were lost or added between intake and select: clear both stages
SELECT file_sha1 FROM pdfs ANTI JOIN selections USING (file_sha1) UNION ALL SELECT file_sha1 FROM selections ANTI JOIN pdfs USING (file_sha1);

-- check: drift_of_selected_pdfs
-- severity: drift
-- reason: the share of selected_pdfs changed by more than the threshold since the parent release: look for a changed source, extractor or rule
FROM drift('select', 'outcome.selected', 'rows', $threshold, $drift_min_n);
