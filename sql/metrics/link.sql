-- Entries that link, by reason, and the contexts that carry a link.
SELECT 'linked', count(cited_paper_id) FROM links
UNION ALL SELECT 'reason.' || reason, count(*) FROM links GROUP BY reason
UNION ALL SELECT 'warning.' || warning, count(*) FROM links WHERE warning IS NOT NULL GROUP BY warning
UNION ALL SELECT 'contexts', count(*) FROM contexts
UNION ALL SELECT 'contexts.linked', count(cited_paper_id) FROM contexts
