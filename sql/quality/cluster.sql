-- Every record belongs to exactly one paper.

-- check: every_record_has_a_paper
-- severity: block
-- overridable: no
-- reason: records were lost or added in cluster: clear it
WITH nodes AS (SELECT record_id FROM records UNION ALL SELECT record_id FROM pdf_records)
SELECT record_id FROM nodes ANTI JOIN clusters USING (record_id) UNION ALL SELECT record_id FROM clusters ANTI JOIN nodes USING (record_id);

-- check: members_are_the_clusters
-- severity: block
-- overridable: no
-- reason: members and clusters disagree
SELECT record_id FROM members ANTI JOIN clusters USING (record_id, paper_id) UNION ALL SELECT record_id FROM clusters ANTI JOIN members USING (record_id, paper_id);

-- check: edges_resolve
-- severity: block
-- overridable: no
-- reason: an edge names a record that does not exist
SELECT "left", "right" FROM edges WHERE "left" NOT IN (SELECT record_id FROM clusters) OR "right" NOT IN (SELECT record_id FROM clusters);

-- check: taken_edges_join
-- severity: block
-- overridable: no
-- reason: an accepted edge joins two papers
SELECT "left", "right" FROM edges JOIN clusters a ON a.record_id = "left" JOIN clusters b ON b.record_id = "right" WHERE taken AND a.paper_id <> b.paper_id;

-- check: aliases_resolve
-- severity: block
-- overridable: no
-- reason: an alias leads to a paper that does not exist
SELECT alias, paper_id FROM aliases ANTI JOIN clusters USING (paper_id);

-- check: clusters_are_small
-- severity: warn
-- threshold: 200
-- reason: a paper has more records than the threshold, often because many papers share an identifier: find it with `corpus explain` and correct the source
SELECT paper_id, count(*) AS records FROM clusters GROUP BY paper_id HAVING records > $threshold;

-- check: drift_of_gold
-- severity: drift
-- reason: precision or recall, measured with identifiers or publishers' XML, changed by more than the threshold since the parent release: look for a changed source, extractor or rule
SELECT 'clusters precision' AS measure, * FROM drift('cluster', 'gold.clusters.right', 'gold.clusters.predicted', $threshold, $drift_min_n)
UNION ALL SELECT 'clusters recall' AS measure, * FROM drift('cluster', 'gold.clusters.found', 'gold.clusters.known', $threshold, $drift_min_n)
UNION ALL SELECT 'titles precision' AS measure, * FROM drift('cluster', 'gold.titles.right', 'gold.titles.predicted', $threshold, $drift_min_n)
UNION ALL SELECT 'titles recall' AS measure, * FROM drift('cluster', 'gold.titles.found', 'gold.titles.known', $threshold, $drift_min_n);
