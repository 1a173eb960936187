-- How English the kept papers are.
SELECT 'english.mean', coalesce(avg(english), 0) FROM filtered WHERE outcome = 'kept'
