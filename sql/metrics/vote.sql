-- Number of papers with each field (S2ORC Table 3), and number of fields that each rule of the vote decided.
FROM (UNPIVOT (
  SELECT count(title) AS "has.title", count(abstract) AS "has.abstract", count(date) AS "has.date", count(venue) AS "has.venue",
    count(journal) AS "has.journal", count(doi) AS "has.doi", count(arxiv_id) AS "has.arxiv_id", count(pubmed_id) AS "has.pubmed_id",
    count(pmc_id) AS "has.pmc_id", count(acl_id) AS "has.acl_id", count(canonical_pdf) AS "has.canonical_pdf"
  FROM papers
) ON COLUMNS(*) INTO NAME name VALUE value)
UNION ALL SELECT 'with_pdf', count(canonical_pdf) FROM papers
UNION ALL SELECT 'open_access', count(*) FILTER (open_access) FROM papers
UNION ALL SELECT 'rule.' || rule, count(*) FROM (SELECT unnest(map_values(provenance)).rule AS rule FROM papers) GROUP BY rule
