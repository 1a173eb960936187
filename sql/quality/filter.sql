-- Every paper has exactly one outcome.

-- check: filtered_key_is_unique
-- severity: block
-- overridable: no
-- by: paper
-- reason: a key occurs twice in filtered: the stage wrote a row twice; clear it and report the key
SELECT paper_id, count(*) AS times FROM filtered GROUP BY ALL HAVING times > 1;

-- check: every_paper_has_an_outcome
-- severity: block
-- overridable: no
-- by: paper
-- reason: papers were lost or invented in filter: clear it
SELECT paper_id FROM papers ANTI JOIN filtered USING (paper_id) UNION ALL SELECT paper_id FROM filtered ANTI JOIN papers USING (paper_id);

-- check: outcome_is_known
-- severity: block
-- overridable: no
-- by: paper
-- reason: an outcome that the specification does not list
SELECT paper_id, outcome FROM filtered WHERE outcome NOT IN ('suppressed', 'no_title', 'no_authors', 'short_text', 'not_english', 'kept');

-- check: drift_of_kept_papers_warn
-- severity: warn
-- threshold: quality.drift_warn
-- reason: the share of kept_papers moved against the parent release by more than the threshold: look for a source, extractor or rule that changed
FROM drift('filter', 'outcome.kept', 'rows', $threshold, $drift_min_n);

-- check: drift_of_kept_papers_block
-- severity: block
-- overridable: yes
-- threshold: quality.drift_block
-- reason: the share of kept_papers moved against the parent release by more than the threshold: look for a source, extractor or rule that changed
FROM drift('filter', 'outcome.kept', 'rows', $threshold, $drift_min_n);
