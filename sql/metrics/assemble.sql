-- Full texts by kind and access, and the contents of their bibliographies.
SELECT 'fulltexts.' || parse_kind || CASE WHEN open_access THEN '.open' ELSE '.closed' END, count(*) FROM fulltexts GROUP BY ALL
UNION ALL SELECT 'entries.with_title', count(title) FROM entries
UNION ALL SELECT 'entries.with_id', count(coalesce(doi, arxiv_id, pubmed_id, pmc_id)) FROM entries
