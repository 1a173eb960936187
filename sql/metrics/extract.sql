-- Requests made, and how long the last of each PDF took.
SELECT 'tries', coalesce(sum(tries), 0) FROM extractions
UNION ALL SELECT 'seconds.mean', coalesce(avg(seconds), 0) FROM extractions
