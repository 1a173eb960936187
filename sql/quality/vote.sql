-- Every cluster is exactly one paper, and each field has its source.

-- check: every_cluster_is_a_paper
-- severity: block
-- overridable: no
-- reason: papers were lost or added in vote: clear it
SELECT paper_id FROM (SELECT DISTINCT paper_id FROM clusters) ANTI JOIN papers USING (paper_id) UNION ALL SELECT paper_id FROM papers ANTI JOIN clusters USING (paper_id);

-- check: canonical_pdf_is_parsed
-- severity: block
-- overridable: no
-- reason: a paper's canonical PDF has no parse
SELECT paper_id, canonical_pdf FROM papers WHERE canonical_pdf IS NOT NULL AND canonical_pdf NOT IN (SELECT file_sha1 FROM parses WHERE outcome = 'ok');

-- check: one_paper_a_canonical_pdf
-- severity: block
-- overridable: no
-- reason: a PDF is canonical for two papers
SELECT canonical_pdf, count(*) AS papers FROM papers WHERE canonical_pdf IS NOT NULL GROUP BY ALL HAVING count(*) > 1;

-- check: open_has_evidence
-- severity: block
-- overridable: no
-- by: paper
-- reason: a paper counts as open access without evidence
SELECT paper_id FROM papers WHERE open_access AND oa_evidence IS NULL
UNION SELECT paper_id FROM (SELECT paper_id, unnest(access) AS one FROM papers) WHERE one.open_access AND one.oa_evidence IS NULL;

-- check: corrections_are_applied
-- severity: block
-- overridable: no
-- by: paper
-- reason: an operator corrected a field, and the paper has another value: clear vote
SELECT paper_id, field FROM corrections LEFT JOIN papers USING (paper_id)
WHERE outcome = 'applied' AND field NOT IN ('license', 'open_access') AND coalesce(provenance[field].rule, '') <> 'correction';

-- check: drift_of_open_papers
-- severity: drift
-- reason: the share of open_papers changed by more than the threshold since the parent release: look for a changed source, extractor or rule
FROM drift('vote', 'open_access', 'rows.papers', $threshold, $drift_min_n);

-- check: half_of_the_papers
-- severity: block
-- overridable: yes
-- reason: fewer than half of the parent's papers: look for a source that was not delivered or not read
FROM lost_half('vote', ['rows.papers']);
