-- Where papers come from.

-- table: Paper provenance (S2ORC Table 3)
-- columns: Subset, Number of papers, % of papers
WITH kept AS (SELECT papers.* FROM papers JOIN filtered USING (paper_id) WHERE outcome = 'kept'),
parsed AS (SELECT paper_id, bool_or(parse_kind = 'pdf' AND open_access) AS pdf, bool_or(parse_kind = 'latex') AS latex,
  bool_or(parse_kind IN ('jats', 'elsevier')) AS publishers FROM fulltexts GROUP BY paper_id),
counted AS (
  SELECT count(*) AS total, count(canonical_pdf) AS with_pdf,
    count(*) FILTER (paper_id IN (SELECT paper_id FROM entries)) AS with_bibliography,
    count(*) FILTER (parsed.pdf) AS with_fulltext,
    count(*) FILTER (parsed.latex) AS with_latex, count(*) FILTER (parsed.publishers) AS with_publishers,
    count(*) FILTER (abstract IS NOT NULL AND NOT starts_with(provenance['abstract'].rule, 'pdf')) AS with_abstract,
    count(doi) AS with_doi, count(pubmed_id) AS with_pubmed, count(pmc_id) AS with_pmc, count(arxiv_id) AS with_arxiv,
    count(acl_id) AS with_acl
  FROM kept LEFT JOIN parsed USING (paper_id)
)
SELECT label, n, round(100 * n / nullif(total, 0), 1) FROM counted, LATERAL (VALUES
  (1, 'Total papers', total), (2, 'Papers w/ PDF', with_pdf), (3, 'Papers w/ bibliographies', with_bibliography),
  (4, 'Papers w/ extracted full text', with_fulltext), (5, 'Papers w/ LaTeX full text', with_latex),
  (6, 'Papers w/ publisher''s full text', with_publishers), (7, 'Papers w/ publisher abstract', with_abstract),
  (8, 'Papers w/ DOIs', with_doi), (9, 'Papers w/ PubMed IDs', with_pubmed),
  (10, 'Papers w/ PMC IDs', with_pmc), (11, 'Papers w/ arXiv IDs', with_arxiv), (12, 'Papers w/ ACL IDs', with_acl)
) AS subsets (rank, label, n) ORDER BY rank;

-- table: Records by source
-- columns: Source, Kind, Records, Papers
SELECT source, kind, count(*), count(DISTINCT paper_id) FROM members GROUP BY ALL ORDER BY count(*) DESC, source, kind;

-- table: Who decided the fields, and how
-- columns: Field, Rule, Source, Papers
SELECT field, provenance[field].rule AS rule, provenance[field].source AS source, count(*)
FROM papers, LATERAL (SELECT unnest(map_keys(provenance)) AS field) GROUP BY ALL ORDER BY field, count(*) DESC, rule, source;

-- table: What says that full texts are open access
-- columns: Full text, Evidence, Licence, Files
SELECT one.kind, coalesce(one.oa_evidence, 'none: closed'), coalesce(one.licence, 'not said'), count(*)
FROM (SELECT unnest(access) AS one FROM papers) GROUP BY ALL ORDER BY count(*) DESC, 1, 2, 3;
