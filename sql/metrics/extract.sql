-- Requests made, and how long the last of each PDF took: `run.` marks what another run of the release may measure differently.
SELECT 'run.tries', coalesce(sum(tries), 0) FROM extractions
UNION ALL SELECT 'run.seconds.mean', coalesce(avg(seconds), 0) FROM extractions
