-- Every paper has exactly one outcome.

-- check: every_paper_has_an_outcome
-- severity: block
-- overridable: no
-- by: paper
-- reason: papers were lost or invented in filter: clear it
SELECT paper_id FROM papers ANTI JOIN filtered USING (paper_id) UNION ALL SELECT paper_id FROM filtered ANTI JOIN papers USING (paper_id);

-- check: drift_of_kept_papers
-- severity: drift
-- reason: the share of kept_papers moved against the parent release by more than the threshold: look for a source, extractor or rule that changed
FROM drift('filter', 'outcome.kept', 'rows', $threshold, $drift_min_n);

-- check: drift_of_own_rules
-- severity: drift
-- reason: the share that an own rule drops moved against the parent release by more than the threshold: look for a source or extractor that changed
FROM drift_of_rules('filter', $threshold, $drift_min_n);
