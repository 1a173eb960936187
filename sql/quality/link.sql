-- Every bibliography entry has exactly one row, and every linked paper exists.

-- check: every_entry_has_a_row
-- severity: block
-- overridable: no
-- by: paper
-- reason: entries were lost or added in link: clear it
WITH kept AS (SELECT paper_id FROM filtered WHERE outcome = 'kept')
SELECT paper_id, ref_id FROM (FROM entries SEMI JOIN kept USING (paper_id)) ANTI JOIN links USING (paper_id, parse_kind, ref_id)
UNION ALL SELECT paper_id, ref_id FROM links ANTI JOIN entries USING (paper_id, parse_kind, ref_id);

-- check: links_resolve
-- severity: block
-- overridable: no
-- reason: a link leads to a paper that was not kept
SELECT paper_id, ref_id, cited_paper_id FROM links WHERE cited_paper_id IS NOT NULL AND cited_paper_id NOT IN (SELECT paper_id FROM filtered WHERE outcome = 'kept');

-- check: never_to_itself
-- severity: block
-- overridable: no
-- by: paper
-- reason: a paper cites itself
SELECT paper_id, ref_id FROM links WHERE paper_id = cited_paper_id;

-- check: fuzzy_is_above_the_threshold
-- severity: block
-- overridable: no
-- threshold: link.min_score
-- by: paper
-- reason: the score of a fuzzy link is not above the spec's minimum
SELECT paper_id, ref_id, score FROM links WHERE reason = 'fuzzy' AND NOT score > $threshold;

-- check: recall_reaches_the_goal
-- severity: block
-- overridable: yes
-- reason: the search missed two or more links of the sample, and more than 1 % of the links that an exhaustive search finds: read the missed titles, and override the check if they are acceptable
WITH sample AS (PIVOT (FROM metrics WHERE stage = 'link' AND name IN ('similar', 'found')) ON name IN ('similar', 'found') USING first(value))
SELECT "similar", found FROM sample WHERE "similar" - found > 1 + 0.01 * "similar";

-- check: contexts_are_open
-- severity: block
-- overridable: no
-- by: paper
-- reason: contexts contain the text of a closed file
SELECT DISTINCT paper_id, parse_kind FROM contexts ANTI JOIN (FROM fulltexts WHERE open_access) USING (paper_id, parse_kind);

-- check: contexts_hold
-- severity: block
-- overridable: no
-- by: paper
-- reason: a context's span is outside its paragraph
SELECT paper_id, paragraph, start, "end" FROM contexts WHERE start < 0 OR "end" <= start OR "end" > length(text);

-- check: drift_of_linked_entries
-- severity: drift
-- reason: the share of linked_entries changed by more than the threshold since the parent release: look for a changed source, extractor or rule
FROM drift('link', 'linked', 'rows', $threshold, $drift_min_n);

-- check: drift_of_gold
-- severity: drift
-- reason: precision or recall, measured with identifiers or publishers' XML, changed by more than the threshold since the parent release: look for a changed source, extractor or rule
SELECT 'links precision' AS measure, * FROM drift('link', 'gold.links.right', 'gold.links.predicted', $threshold, $drift_min_n)
UNION ALL SELECT 'links recall' AS measure, * FROM drift('link', 'gold.links.found', 'gold.links.known', $threshold, $drift_min_n);
