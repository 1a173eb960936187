-- Size of the clusters.
SELECT 'largest', coalesce(max(records), 0) FROM (SELECT count(*) AS records FROM clusters GROUP BY paper_id)
UNION ALL SELECT 'of_one_record', count(*) FROM (SELECT 1 FROM clusters GROUP BY paper_id HAVING count(*) = 1)
