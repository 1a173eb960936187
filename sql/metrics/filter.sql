-- The probability of English of the kept papers, and the number of papers on which CLD2 and CLD3 disagree (if `filter.language` is cld2).
SELECT 'english.mean', coalesce(avg(english), 0) FROM filtered WHERE outcome = 'kept'
UNION ALL SELECT 'language.asked_both', count(disputed) FROM filtered HAVING count(disputed) > 0
UNION ALL SELECT 'language.disputed', count(*) FILTER (disputed) FROM filtered HAVING count(disputed) > 0
