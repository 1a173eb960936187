-- The fields of the kept papers.

-- table: Fields of the kept papers
-- columns: Field, Papers, % of papers
WITH kept AS (SELECT papers.* FROM papers JOIN filtered USING (paper_id) WHERE outcome = 'kept')
SELECT label, n, round(100 * n / nullif(total, 0), 1)
FROM (SELECT count(*) AS total, count(title) AS title, count(*) FILTER (len(authors) > 0) AS authors, count(date) AS date,
  count(venue) AS venue, count(journal) AS journal, count(abstract) AS abstract, count(*) FILTER (len(fields_of_study) > 0) AS fields
  FROM kept), LATERAL (VALUES
  (1, 'title', title), (2, 'authors', authors), (3, 'date', date), (4, 'venue', venue), (5, 'journal', journal),
  (6, 'abstract', abstract), (7, 'fields of study', fields)
) AS rows (rank, label, n) ORDER BY rank;
