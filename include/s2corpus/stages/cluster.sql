-- Cluster: find the records of one paper (SPEC §4). Each statement makes a table, which is named before its rule. A function in
-- brackets, of `clustering/functions.py`, makes the rows of the table from the rows of the statement; `by` names the column of
-- whose groups it needs all rows. Nodes are numbers of records in the order of their ids; a cluster has the number of its first node.

-- facts [read_facts]: the facts that the rules compare
SELECT
    record_id, source, kind, ready_at, title, authors, date, original_title, document, journal, volume, issue, pages, type,
    doi, arxiv_id, pubmed_id, pmc_id, acl_id, file_sha1
FROM records;

-- numbers: the number of each record
SELECT record_id, CAST(row_number() OVER (ORDER BY record_id) - 1 AS BIGINT) AS node FROM facts;

-- titles: distinct titles, with the first record and the number of records
SELECT
    normalized, min(node) AS title, count(*) AS records,
    arg_min(f.title, node) AS original, arg_min(little, node) AS is_uninformative
FROM facts f JOIN numbers USING (record_id) WHERE normalized <> '' GROUP BY normalized;

-- forms: a DOI is a preprint's if a record of a preprint has it, else a paper's if a publisher's record has it (§4.12). The type of a
-- record of arXiv does not count, because it may have the DOI of the published version.
SELECT doi, CASE WHEN bool_or(form = 1) THEN 1 WHEN bool_or(form = 2 AND publisher) THEN 2 END AS form
FROM facts WHERE doi IS NOT NULL AND arxiv_id IS NULL GROUP BY doi;

-- nodes: the DOI that a drop declares for a file overrides the DOI in the file (§4.2)
WITH known AS (
    SELECT n.node, f.*, coalesce(d.form = 1, preprint_prefix) AS has_preprint_doi
    FROM facts f JOIN numbers n USING (record_id) LEFT JOIN forms d ON d.doi = f.doi
),
overriding AS (SELECT DISTINCT declared AS file FROM known WHERE declares AND doi IS NOT NULL AND NOT has_preprint_doi)
SELECT
    node, record_id, ready_at, t.title, year, page, surnames, trusted, declares, second_header,
    declared, k.doi, arxiv_id, pubmed_id, pmc_id, acl_id, file_sha1,
    CASE WHEN NOT has_preprint_doi AND (file IS NULL OR declares) THEN k.doi END AS final_doi,
    has_preprint_doi OR form = 1 OR (arxiv_id IS NOT NULL AND NOT publisher) AS preprint,
    row_number() OVER (PARTITION BY coalesce(t.title, -1 - node) ORDER BY year, node) AS rank,
    t.is_uninformative OR t.records > 64 AS is_common,
    {
        'normalized': t.normalized, 'title': t.original, 'little': coalesce(t.is_uninformative, false), 'translated': translated,
        'trusted': trusted, 'preprint': has_preprint_doi OR form = 1 OR (arxiv_id IS NOT NULL AND NOT publisher),
        'document': document, 'surnames': surnames, 'year': year, 'journal': journal, 'volume': volume, 'issue': issue, 'page': page, 'last_page': last_page
    } AS facts
FROM known k LEFT JOIN titles t USING (normalized) LEFT JOIN overriding ON file = declared;

-- identified: records that share an identifier
SELECT node, kind, value FROM (
    SELECT node, 0 AS kind, declared AS value FROM nodes WHERE declared IS NOT NULL
    UNION ALL SELECT node, 1, doi FROM nodes WHERE doi IS NOT NULL
    UNION ALL SELECT node, 2, arxiv_id FROM nodes WHERE arxiv_id IS NOT NULL
    UNION ALL SELECT node, 3, pubmed_id FROM nodes WHERE pubmed_id IS NOT NULL
    UNION ALL SELECT node, 4, pmc_id FROM nodes WHERE pmc_id IS NOT NULL
    UNION ALL SELECT node, 5, acl_id FROM nodes WHERE acl_id IS NOT NULL
    UNION ALL SELECT node, 6, file_sha1 FROM nodes WHERE file_sha1 IS NOT NULL
) QUALIFY count(*) OVER (PARTITION BY kind, value) > 1;

-- edges_0 [join_identified by kind, value]: edges by identifier (§4.2–4.6)
SELECT kind, value, node, declares, second_header, declared, doi, facts
FROM identified JOIN nodes USING (node) ORDER BY kind, value, node;

-- equal: records with equal titles, each with the next 64, that are not in one cluster yet
SELECT l.node AS a, r.node AS b
FROM clustered l CROSS JOIN (VALUES (0), (1)) AS next(step)
JOIN clustered r ON r.title = l.title AND r.rank >> 6 = (l.rank >> 6) + step AND r.rank - l.rank BETWEEN 1 AND 64
WHERE l.label <> r.label AND NOT (l.is_common AND coalesce(l.final_doi <> r.final_doi, false));

-- edges_1 [judge_equal]: edges by equal title (§4.7)
SELECT a, b, l.is_common, coalesce(l.final_doi <> r.final_doi, false) AS dois_differ, l.facts AS facts_a, r.facts AS facts_b
FROM equal JOIN nodes l ON l.node = a JOIN nodes r ON r.node = b;

-- open_titles: titles with a record of a cluster that a similar title can join: it has no DOI, or shares it with another cluster
WITH dois AS (SELECT label, max(final_doi) AS doi FROM clustered GROUP BY label),
settled AS (SELECT min(label) AS label FROM dois WHERE doi IS NOT NULL GROUP BY doi HAVING count(*) = 1)
SELECT title, bool_or(s.label IS NULL) AS is_open
FROM clustered LEFT JOIN settled s USING (label) WHERE title IS NOT NULL GROUP BY title;

-- keys [compute_title_keys]: MinHash keys of informative titles
SELECT title, is_open, normalized FROM titles JOIN open_titles USING (title) WHERE NOT is_uninformative;

-- candidates: two titles with an equal key, if one is open; a key of more than 256 open titles proposes none
WITH open_keys AS (SELECT title, key FROM keys WHERE is_open QUALIFY count(*) OVER (PARTITION BY key) <= 256)
SELECT DISTINCT k.title AS a, o.title AS b
FROM keys k JOIN open_keys o USING (key) WHERE k.title < o.title OR (NOT k.is_open AND k.title <> o.title);

-- scored [score_titles]: S of each candidate pair
SELECT a, b, x.normalized AS title_a, y.normalized AS title_b
FROM candidates JOIN titles x ON x.title = a JOIN titles y ON y.title = b;

-- most_similar: for each title, the 64 most similar titles
SELECT a, b, score FROM scored QUALIFY row_number() OVER (PARTITION BY a ORDER BY score DESC, b) <= 64;

-- edges_2 [judge_similar]: edges by similar titles (§4.7), between the first 64 records of each
SELECT
    l.node AS a, r.node AS b, score, l.is_common OR r.is_common AS is_common,
    coalesce(l.final_doi <> r.final_doi, false) AS dois_differ, l.facts AS facts_a, r.facts AS facts_b
FROM most_similar s JOIN nodes l ON l.title = s.a AND l.rank <= 64 JOIN nodes r ON r.title = s.b AND r.rank <= 64;

-- fronts: records that share authors, year and first page
SELECT
    node, label, title, final_doi, min(node) OVER (PARTITION BY year, page, surnames) AS front,
    row_number() OVER (PARTITION BY year, page, surnames ORDER BY coalesce(normalized, ''), node) AS rank
FROM clustered
WHERE year <> 0 AND page <> 0 AND array_length(surnames) > 0 AND (title IS NOT NULL OR NOT trusted)
QUALIFY count(*) OVER (PARTITION BY year, page, surnames) > 1;

-- cut: two of them, with different titles; sorted by title, a cut title precedes its continuations
SELECT l.node AS a, r.node AS b
FROM fronts l CROSS JOIN (VALUES (0), (1)) AS next(step)
JOIN fronts r ON r.front = l.front AND r.rank >> 6 = (l.rank >> 6) + step AND r.rank - l.rank BETWEEN 1 AND 64
WHERE l.title IS DISTINCT FROM r.title AND l.label <> r.label AND NOT coalesce(l.final_doi <> r.final_doi, false);

-- edges_3 [judge_cut]: edges by cut, translated and missing titles (§4.22)
SELECT a, b, l.facts AS facts_a, r.facts AS facts_b FROM cut JOIN nodes l ON l.node = a JOIN nodes r ON r.node = b;

-- edges: all edges that were found so far
FROM edges_0 UNION ALL FROM edges_1 UNION ALL FROM edges_2 UNION ALL FROM edges_3;

-- connected [connect by all]: the component of each record, if it is not its first
SELECT a, b FROM edges;

-- decided [decide by component]: the clusters in each component: edges are taken strongest first (§4.15)
SELECT
    coalesce(c.label, a) AS component, a, b, reason, near, strength, evidence,
    l.final_doi AS doi_a, r.final_doi AS doi_b, l.year AS year_a, r.year AS year_b, l.preprint AS preprint_a, r.preprint AS preprint_b
FROM edges LEFT JOIN connected c ON c.node = a JOIN nodes l ON l.node = a JOIN nodes r ON r.node = b
ORDER BY component, near, strength DESC, a, b;

-- clustered: the cluster of each record
SELECT
    n.node, record_id, ready_at, title, rank, is_common, trusted, year, page, surnames, final_doi, facts.normalized,
    coalesce(d.label, n.node) AS label
FROM nodes n LEFT JOIN (SELECT a AS node, label_a AS label FROM decided UNION SELECT b, label_b FROM decided) d USING (node);

-- edge_rows [name_edges]: the table `edges`
SELECT x.record_id AS "left", y.record_id AS "right", reason, strength, outcome, evidence, a
FROM decided JOIN numbers x ON x.node = a JOIN numbers y ON y.node = b WHERE outcome <> 0;

-- aged: records with their papers in the parent; the age of a record is its first delivery, then its id (§4.17)
SELECT node, label, record_id, p.paper_id AS former, least(ready_at, p.first_ready) AS first_ready
FROM clustered LEFT JOIN parent_clusters p USING (record_id);

-- heirs: the oldest record of each paper of the parent: its cluster retains the id on a split (§4.18)
SELECT former, label, first_ready, node FROM aged WHERE former IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY former ORDER BY first_ready NULLS FIRST, node) = 1;

-- papers: a cluster retains the oldest id, or is named by its oldest record, if no cluster retains that name (§4.17)
WITH retained AS (
    SELECT label, former FROM heirs QUALIFY row_number() OVER (PARTITION BY label ORDER BY first_ready NULLS FIRST, node) = 1
),
possible AS (
    SELECT label, record_id, first_ready, node, 1 AS choice, substring(sha256(record_id), 1, 15) AS paper_id FROM aged
    UNION ALL SELECT label, record_id, first_ready, node, 2, substring(sha256(concat(record_id, '#2')), 1, 15) FROM aged
),
named AS (
    SELECT label, record_id, paper_id FROM possible ANTI JOIN retained ON former = paper_id
    QUALIFY row_number() OVER (PARTITION BY label ORDER BY choice, first_ready NULLS FIRST, node) = 1
)
SELECT label, record_id, coalesce(former, paper_id) AS paper_id FROM named LEFT JOIN retained USING (label);

-- alias_rows: ids that were merged, and the aliases of the parent (§4.19)
WITH merged AS (SELECT former AS alias, paper_id FROM heirs JOIN papers USING (label)),
older AS (
    SELECT p.alias, m.paper_id FROM parent_aliases p JOIN merged m ON m.alias = p.paper_id ANTI JOIN merged n ON n.alias = p.alias
)
SELECT alias, f.paper_id FROM (SELECT * FROM merged UNION ALL SELECT * FROM older) f ANTI JOIN papers p ON p.paper_id = alias;

-- cluster_rows: the table `clusters`
SELECT aged.record_id, paper_id, first_ready, node FROM aged JOIN papers USING (label);
