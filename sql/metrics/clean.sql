-- Documents and words of each set.
SELECT "set" || '.rows', count(*) FROM documents GROUP BY "set"
UNION ALL SELECT "set" || '.words', coalesce(sum(words) FILTER (outcome = 'kept'), 0) FROM documents GROUP BY "set"
