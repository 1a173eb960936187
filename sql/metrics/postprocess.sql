-- Size of the parses.
SELECT 'bytes', coalesce(sum(bytes), 0) FROM parses
