-- Number of requests, and duration of the last request for each PDF. `run.` marks values that another run of the release may measure differently.
SELECT 'run.tries', coalesce(sum(tries), 0) FROM extractions
UNION ALL SELECT 'run.seconds.mean', coalesce(avg(seconds), 0) FROM extractions
