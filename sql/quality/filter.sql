-- Every paper has exactly one outcome.

-- check: every_paper_has_an_outcome
-- severity: block
-- overridable: no
-- by: paper
-- reason: papers were lost or added in filter: clear it
SELECT paper_id FROM papers ANTI JOIN filtered USING (paper_id) UNION ALL SELECT paper_id FROM filtered ANTI JOIN papers USING (paper_id);

-- check: drift_of_kept_papers
-- severity: drift
-- reason: the share of kept_papers changed by more than the threshold since the parent release: look for a changed source, extractor or rule
FROM drift('filter', 'outcome.kept', 'rows', $threshold, $drift_min_n);

-- check: drift_of_own_rules
-- severity: drift
-- reason: the share that an own rule drops changed by more than the threshold since the parent release: look for a changed source or extractor
FROM drift_of_rules('filter', $threshold, $drift_min_n);
