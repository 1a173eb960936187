-- Size of the clusters, and their edges.
SELECT 'largest', coalesce(max(records), 0) FROM (SELECT count(*) AS records FROM clusters GROUP BY paper_id)
UNION ALL SELECT 'of_one_record', count(*) FROM (SELECT 1 FROM clusters GROUP BY paper_id HAVING count(*) = 1)
UNION ALL SELECT 'conflicts', count(*) FROM edges WHERE NOT taken
UNION ALL SELECT 'edges.' || reason, count(*) FROM edges WHERE taken GROUP BY reason
