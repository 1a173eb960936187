-- Cluster: find the records of one paper (SPEC §4). Each statement makes a table, which is named before its rule. A function in
-- brackets, of `clustering/functions.py`, makes the rows of the table from the rows of the statement; `by` names the column of
-- whose groups it needs all rows. Nodes are numbers of records in the order of their ids; a cluster has the number of its first node.

-- next_blocks: the blocks of 64 ranks with the next 64. Joined by block, a group of n rows has 64 n pairs, not n².
unnest([rank >> 6, (rank >> 6) + 1]) AS block;

-- facts [read_facts]: the facts that the rules compare
SELECT
    record_id, source, kind, ready_at, title, authors, date, original_title, document, journal, volume, issue, pages, type,
    doi, arxiv_id, pubmed_id, pmc_id, acl_id, file_sha1
FROM records;

-- numbers: the number of each record
SELECT record_id, CAST(row_number() OVER (ORDER BY record_id) - 1 AS BIGINT) AS node FROM facts;

-- titles: distinct titles, with the first record and the number of records
WITH first_records AS (
    SELECT normalized, min(node) AS title, count(*) AS records FROM facts JOIN numbers USING (record_id) WHERE normalized <> '' GROUP BY normalized
)
SELECT t.normalized, t.title, records, f.title AS original, little AS is_uninformative
FROM first_records t JOIN numbers n ON n.node = t.title JOIN facts f ON f.record_id = n.record_id;

-- forms: a DOI is a preprint's if a record of a preprint has it, else a paper's if a publisher's record has it (§4.12). The type of a
-- record of arXiv does not count, because it may have the DOI of the published version.
SELECT doi, CASE
    WHEN bool_or(form = 1 AND arxiv_id IS NULL) THEN true WHEN bool_or(form = 2 AND publisher AND arxiv_id IS NULL) THEN false
    ELSE bool_or(preprint_prefix)
END AS is_preprint
FROM facts WHERE doi IS NOT NULL GROUP BY doi;

-- nodes: the DOI that a drop declares for a file overrides the DOI in the file (§4.2)
WITH titled AS (
    SELECT record_id, node, title, row_number() OVER (PARTITION BY coalesce(title, -1 - node) ORDER BY year, node) AS rank
    FROM (SELECT record_id, normalized, year FROM facts) JOIN numbers USING (record_id) LEFT JOIN titles USING (normalized)
),
known AS (
    SELECT f.*, node, t.title AS title_number, rank, original, is_uninformative, records, coalesce(is_preprint, false) AS has_preprint_doi
    FROM facts f JOIN titled t USING (record_id) LEFT JOIN titles o ON o.title = t.title LEFT JOIN forms USING (doi)
),
overriding AS (SELECT DISTINCT declared AS file FROM facts JOIN forms USING (doi) WHERE declares AND NOT is_preprint)
SELECT
    node, record_id, ready_at, title_number AS title, year, page, surnames, trusted, declares, second_header,
    declared, doi, arxiv_id, pubmed_id, pmc_id, acl_id, file_sha1,
    CASE WHEN NOT has_preprint_doi AND (file IS NULL OR declares) THEN doi END AS final_doi,
    has_preprint_doi OR form = 1 OR (arxiv_id IS NOT NULL AND NOT publisher) AS preprint,
    rank, is_uninformative OR records > 64 AS is_common,
    {
        'normalized': normalized, 'title': original, 'little': coalesce(is_uninformative, false), 'translated': translated,
        'trusted': trusted, 'preprint': has_preprint_doi OR form = 1 OR (arxiv_id IS NOT NULL AND NOT publisher),
        'document': document, 'surnames': surnames, 'year': year, 'journal': journal, 'volume': volume, 'issue': issue, 'page': page, 'last_page': last_page
    } AS facts
FROM known LEFT JOIN overriding ON file = declared;

-- identified: the records of each shared identifier. The first is a drop's own record of a file (§4.2), else one of a publisher or an
-- archive, with a title if there is one (§4.3).
SELECT
    kind, node, title, trusted, second_header, declared, doi,
    first_value(node) OVER (PARTITION BY kind, value ORDER BY NOT trusted, kind > 0 AND title IS NULL, node) AS first,
    row_number() OVER (PARTITION BY kind, value ORDER BY node) AS rank,
    bool_or(trusted) OVER (PARTITION BY kind, value) AS has_record,
    bool_or(trusted AND title IS NOT NULL) OVER (PARTITION BY kind, value) AS has_title
FROM (
    SELECT node, 0 AS kind, declared AS value FROM nodes WHERE declared IS NOT NULL
    UNION ALL SELECT node, 1, doi FROM nodes WHERE doi IS NOT NULL
    UNION ALL SELECT node, 2, arxiv_id FROM nodes WHERE arxiv_id IS NOT NULL
    UNION ALL SELECT node, 3, pubmed_id FROM nodes WHERE pubmed_id IS NOT NULL
    UNION ALL SELECT node, 4, pmc_id FROM nodes WHERE pmc_id IS NOT NULL
    UNION ALL SELECT node, 5, acl_id FROM nodes WHERE acl_id IS NOT NULL
    UNION ALL SELECT node, 6, file_sha1 FROM nodes WHERE file_sha1 IS NOT NULL
) JOIN (SELECT node, title, trusted, second_header, declared, doi FROM nodes) n USING (node)
QUALIFY count(*) OVER (PARTITION BY kind, value) > 1;

-- asked: what must hold for pairs of them. Records of publishers and archives form a star. An identifier from a PDF, and an equal file,
-- joins only similar titles (§4.4): one "not found" page is the file of many papers. Two headers of one PDF belong together.
SELECT 'related' AS question, kind, first, first AS a, node AS b
FROM identified WHERE kind BETWEEN 1 AND 5 AND trusted AND node <> first
UNION ALL
SELECT
    CASE WHEN l.kind = 6 AND ((l.second_header AND NOT r.trusted) OR (r.second_header AND NOT l.trusted)) THEN 'none' ELSE 'similar' END,
    l.kind, l.first, l.node, r.node
FROM (SELECT *, $next_blocks FROM identified) l
JOIN (SELECT *, rank >> 6 AS block FROM identified) r ON r.kind = l.kind AND r.first = l.first AND r.block = l.block
WHERE r.rank - l.rank BETWEEN 1 AND 64 AND l.kind > 0 AND NOT (l.kind < 6 AND l.trusted AND r.trusted)
UNION ALL
SELECT 'printed', kind, first, first, node FROM identified WHERE kind IN (1, 2) AND NOT trusted AND has_title
UNION ALL
SELECT 'claimed', kind, c.untitled, p.node, o.node
FROM (SELECT * FROM identified WHERE NOT trusted QUALIFY count(*) OVER (PARTITION BY kind, first) <= 64) p
JOIN (
    SELECT kind, first, min(node) AS untitled FROM identified WHERE kind IN (1, 2, 6) AND trusted AND title IS NULL GROUP BY kind, first
    HAVING kind <> 6 OR count(*) = 1 OR (count(doi) = count(*) AND count(DISTINCT doi) = 1)
) c USING (kind, first)
JOIN identified o USING (kind, first)
WHERE (kind <> 6 OR p.title IS NOT NULL) AND o.node <> p.node
    AND CASE WHEN o.title IS NULL THEN o.trusted ELSE o.trusted OR coalesce(o.declared <> p.declared, true) END;

-- answered [answer]: whether it holds
SELECT question, kind, first, a, b, l.facts AS facts_a, r.facts AS facts_b
FROM asked JOIN nodes l ON l.node = a JOIN nodes r ON r.node = b;

-- asked_apart: the same of the records that are unrelated to the first of their star: they join only each other
WITH apart AS (
    SELECT kind, first, b AS node, row_number() OVER (PARTITION BY kind, first ORDER BY b) AS rank
    FROM answered WHERE question = 'related' AND NOT holds
)
SELECT 'related' AS question, l.kind, l.first, l.node AS a, r.node AS b
FROM (SELECT *, $next_blocks FROM apart) l
JOIN (SELECT *, rank >> 6 AS block FROM apart) r ON r.kind = l.kind AND r.first = l.first AND r.block = l.block
WHERE r.rank - l.rank BETWEEN 1 AND 64;

-- edges_0: edges by identifier (§4.2–4.6). A PDF without a title joins the records of its file if they have one title and no two DOIs. A
-- record without a title joins a PDF with its identifier if all that has the identifier agrees.
SELECT
    least(a, b) AS a, greatest(a, b) AS b, CAST(CASE WHEN holds THEN kind ELSE $unrelated END AS TINYINT) AS reason,
    CAST(0 AS TINYINT) AS near, CAST($title + 1 - kind AS DOUBLE) AS strength, CAST(-1 AS BIGINT) AS evidence
FROM (
    SELECT kind, first AS a, node AS b, true AS holds FROM identified WHERE kind = 0 AND has_record AND node <> first
    UNION ALL SELECT kind, a, b, holds FROM answered WHERE question = 'related' OR (question <> 'claimed' AND holds)
    UNION ALL SELECT kind, a, b, holds FROM answered_apart WHERE holds
    UNION ALL SELECT kind, min(first), a, true FROM answered WHERE question = 'claimed' GROUP BY kind, a HAVING bool_and(holds)
    UNION ALL SELECT kind, first, node, true FROM identified SEMI JOIN (
        SELECT kind, first FROM identified WHERE kind = 6 AND trusted GROUP BY kind, first
        HAVING count(DISTINCT coalesce(title, -1)) = 1 AND count(DISTINCT doi) <= 1
    ) f USING (kind, first) WHERE NOT trusted AND title IS NULL
);

-- equal: records with equal titles, each with the next 64, that are not in one cluster yet
SELECT l.node AS a, r.node AS b
FROM (SELECT *, $next_blocks FROM clustered) l
JOIN (SELECT *, rank >> 6 AS block FROM clustered) r ON r.title = l.title AND r.block = l.block
WHERE r.rank - l.rank BETWEEN 1 AND 64 AND l.label <> r.label AND NOT (l.is_common AND coalesce(l.final_doi <> r.final_doi, false));

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

-- fronts: records that share authors, year and first page; full surnames have even keys
SELECT
    node, label, title, final_doi, min(node) OVER (PARTITION BY year, page, authors) AS front,
    row_number() OVER (PARTITION BY year, page, authors ORDER BY coalesce(facts.normalized, ''), node) AS rank
FROM (SELECT *, list_filter(surnames, lambda surname: surname % 2 = 0) AS authors FROM nodes) JOIN (SELECT node, label FROM clustered) USING (node)
WHERE year <> 0 AND page <> 0 AND array_length(surnames) > 0 AND (title IS NOT NULL OR NOT trusted)
QUALIFY count(*) OVER (PARTITION BY year, page, authors) > 1;

-- cut: two of them, with different titles; sorted by title, a cut title precedes its continuations
SELECT l.node AS a, r.node AS b
FROM (SELECT *, $next_blocks FROM fronts) l
JOIN (SELECT *, rank >> 6 AS block FROM fronts) r ON r.front = l.front AND r.block = l.block
WHERE r.rank - l.rank BETWEEN 1 AND 64 AND l.title IS DISTINCT FROM r.title AND l.label <> r.label AND NOT coalesce(l.final_doi <> r.final_doi, false);

-- edges_3 [judge_cut]: edges by cut, translated and missing titles (§4.22)
SELECT a, b, l.facts AS facts_a, r.facts AS facts_b FROM cut JOIN nodes l ON l.node = a JOIN nodes r ON r.node = b;

-- edges: all edges that were found so far
FROM edges_0 UNION ALL FROM edges_1 UNION ALL FROM edges_2 UNION ALL FROM edges_3;

-- connected [connect by all]: the component of each record, if it is not its first
SELECT a, b FROM edges;

-- decided [decide by component]: the clusters in each component: edges are taken strongest first, of equal years before others (§4.15)
SELECT
    coalesce(c.label, a) AS component, a, b, reason, near, strength, evidence,
    l.final_doi AS doi_a, r.final_doi AS doi_b, l.year AS year_a, r.year AS year_b, l.preprint AS preprint_a, r.preprint AS preprint_b
FROM edges LEFT JOIN connected c ON c.node = a JOIN nodes l ON l.node = a JOIN nodes r ON r.node = b
ORDER BY component, near, strength DESC, CASE WHEN year_a = 0 OR year_b = 0 THEN 1 ELSE abs(year_a - year_b) END, a, b;

-- clustered: the cluster of each record
SELECT n.node, title, rank, is_common, final_doi, coalesce(d.label, n.node) AS label
FROM nodes n LEFT JOIN (SELECT a AS node, label_a AS label FROM decided UNION SELECT b, label_b FROM decided) d USING (node);

-- edge_rows [name_edges]: the table `edges`
SELECT x.record_id AS "left", y.record_id AS "right", reason, strength, outcome, evidence, a
FROM decided JOIN numbers x ON x.node = a JOIN numbers y ON y.node = b WHERE outcome <> 0;

-- aged: records with their papers in the parent; the age of a record is its first delivery, then its id (§4.17)
SELECT node, label, record_id, p.paper_id AS former, least(ready_at, p.first_ready) AS first_ready
FROM clustered JOIN (SELECT node, record_id, ready_at FROM nodes) USING (node) LEFT JOIN parent_clusters p USING (record_id);

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
