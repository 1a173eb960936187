-- Every kept paper is decided once in s2orc, and once in s2ag if it is not in s2orc. Without s2orc, every paper is decided in s2ag.

-- check: every_kept_paper_is_decided
-- severity: block
-- overridable: no
-- by: paper
-- reason: papers were lost or added in clean: clear it
WITH kept AS (SELECT paper_id FROM filtered WHERE outcome = 'kept')
SELECT paper_id FROM kept ANTI JOIN (FROM documents WHERE "set" = (SELECT max("set") FROM documents)) USING (paper_id) UNION ALL SELECT paper_id FROM documents ANTI JOIN kept USING (paper_id);

-- check: one_set_a_paper
-- severity: block
-- overridable: no
-- by: paper
-- reason: a paper is a document of both sets
SELECT paper_id FROM documents WHERE outcome = 'kept' GROUP BY paper_id HAVING count(*) > 1;

-- check: text_is_there_if_kept
-- severity: block
-- overridable: no
-- by: paper
-- reason: a kept document without text, or the text of a dropped one
SELECT "set", paper_id, outcome FROM documents WHERE (outcome = 'kept') <> (text IS NOT NULL);

-- check: no_closed_text
-- severity: block
-- overridable: no
-- by: paper
-- reason: the text of a closed file is a document
SELECT paper_id, sha1 FROM (FROM documents WHERE "set" = 's2orc' AND outcome = 'kept') ANTI JOIN (
  SELECT paper_id, one.sha1 AS sha1 FROM (SELECT paper_id, unnest(access) AS one FROM papers) WHERE one.open_access
) USING (paper_id, sha1);

-- check: drift_of_full_text_documents
-- severity: drift
-- reason: the share of full_text_documents changed by more than the threshold since the parent release: look for a changed source, extractor or rule
FROM drift('clean', 's2orc.kept', 's2orc.rows', $threshold, $drift_min_n);

-- check: drift_of_own_rules
-- severity: drift
-- reason: the share that an own rule drops changed by more than the threshold since the parent release: look for a changed source or extractor
FROM drift_of_rules('clean', $threshold, $drift_min_n);
