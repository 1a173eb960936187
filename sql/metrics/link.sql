-- The number of entries of kept papers, of linked entries by reason, and of contexts with a link.
WITH counted AS (SELECT * FROM links WHERE paper_id IN (SELECT paper_id FROM filtered WHERE outcome = 'kept'))
SELECT 'rows', count(*) FROM counted
UNION ALL SELECT 'linked', count(cited_paper_id) FROM counted
UNION ALL SELECT 'reason.' || reason, count(*) FROM counted GROUP BY reason
UNION ALL SELECT 'warning.' || warning, count(*) FROM counted WHERE warning IS NOT NULL GROUP BY warning
UNION ALL SELECT 'contexts', count(*) FROM contexts
UNION ALL SELECT 'contexts.linked', count(cited_paper_id) FROM contexts
