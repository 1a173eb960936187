-- How much was extracted and linked.

-- table: Extraction and linking over parses, averaged over open access papers (S2ORC Table 4)
-- columns: Per paper, PDF, LaTeX, JATS, Elsevier
WITH opened AS (
  SELECT fulltexts.paper_id, parse_kind, CAST(decode(parse) AS JSON) AS parse
  FROM fulltexts JOIN filtered USING (paper_id) WHERE open_access AND outcome = 'kept'
),
linked AS (
  SELECT paper_id, parse_kind, count(*) AS entries, count(cited_paper_id) AS links FROM links GROUP BY ALL
),
measured AS (
  SELECT opened.parse_kind, json_array_length(parse, '$.abstract') AS abstract_paragraphs,
    json_array_length(parse, '$.body_text') AS body_paragraphs,
    coalesce(list_sum([json_array_length(x) FOR x IN json_extract(parse, '$.abstract[*].cite_spans')]), 0) AS abstract_spans,
    coalesce(list_sum([json_array_length(x) FOR x IN json_extract(parse, '$.body_text[*].cite_spans')]), 0) AS body_spans,
    coalesce(len(json_keys(parse, '$.bib_entries')), 0) AS entries, coalesce(links, 0) AS links
  FROM opened LEFT JOIN linked USING (paper_id, parse_kind)
),
averages AS (
  SELECT parse_kind, count(*) AS papers, avg(abstract_paragraphs) AS ap, avg(body_paragraphs) AS bp, avg(abstract_spans) AS as_,
    avg(body_spans) AS bs, avg(entries) AS e, avg(links) AS l
  FROM measured GROUP BY parse_kind
)
SELECT label, max(round(n, 1)) FILTER (parse_kind = 'pdf'), max(round(n, 1)) FILTER (parse_kind = 'latex'),
  max(round(n, 1)) FILTER (parse_kind = 'jats'), max(round(n, 1)) FILTER (parse_kind = 'elsevier')
FROM averages, LATERAL (VALUES
  (1, 'Number of papers', papers), (2, 'Paragraphs (abstract)', ap), (3, 'Paragraphs (body)', bp),
  (4, 'Inline cite spans (abstract)', as_), (5, 'Inline cite spans (body)', bs), (6, 'Bibliography entries', e),
  (7, 'Linked bib. entries', l)
) AS rows (rank, label, n) GROUP BY rank, label ORDER BY rank;

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

-- table: Papers by field of study
-- columns: Field of study, Papers
SELECT field, count(*) FROM (SELECT unnest(fields_of_study) AS field FROM papers JOIN filtered USING (paper_id) WHERE outcome = 'kept')
GROUP BY field ORDER BY count(*) DESC, field LIMIT 25;
