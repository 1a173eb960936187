-- Link: find the papers that an entry may cite, and choose one (SPEC §7). Each statement makes a table, which is named before its rule. A
-- function in brackets, of `titles/linking.py`, makes the rows of the table from the rows of the statement. `$name` is a parameter, or the
-- text of an earlier statement. An entry gets candidates by identifier; without any, by equal title; then by similar title; then by the
-- opening of a cut title, or, without a title, by its place in print; then by a title in its printed text.

-- papers [read_papers]: the kept papers, with the facts that are compared
SELECT
    paper_id, title, authors, date, journal, venue, volume, pages, doi, arxiv_id, pubmed_id, pmc_id,
    list_transform(preprints, lambda preprint: preprint.doi) AS preprint_dois
FROM given_papers SEMI JOIN (SELECT paper_id FROM filtered WHERE outcome = 'kept') k USING (paper_id);

-- key_of_entry: the key of an entry
paper_id || ' ' || parse_kind || ' ' || ref_id;

-- entry: the columns of an entry that are read
$key_of_entry AS entry, paper_id AS citing_paper_id, title, authors, year, venue AS journal, volume, pages,
raw_text, doi, arxiv_id, pubmed_id, pmc_id;

-- entries [read_entries]: the bibliography entries, with the same facts
SELECT $entry FROM bibliography;

-- candidate: the columns of a candidate that come first
e.entry, p.paper_id, p.title, p.normalized, coalesce(p.normalized = e.normalized, false) AS same_title,
e.is_uninformative OR p.is_uninformative AS is_uninformative, e.facts AS cited, p.facts AS given;

-- is_confirmed: what an uninformative title needs: equal year and surname, or equal volume and page (§7.6)
coalesce(
    (p.facts.year = e.facts.year AND p.facts.surname = e.facts.surname)
    OR (p.facts.volume = e.facts.volume AND p.facts.page = e.facts.page), false
);

-- proposal: the columns of an entry that proposes papers
entry, citing_paper_id, normalized, is_uninformative, facts;

-- by_identifier: the identifiers of entries (§7.5)
SELECT $proposal, 'id' AS reason, 'doi ' || doi AS value, CAST(NULL AS DOUBLE) AS score FROM entries WHERE doi <> ''
UNION ALL SELECT $proposal, 'id', 'arxiv_id ' || arxiv_id, NULL FROM entries WHERE arxiv_id <> ''
UNION ALL SELECT $proposal, 'id', 'pubmed_id ' || pubmed_id, NULL FROM entries WHERE pubmed_id <> ''
UNION ALL SELECT $proposal, 'id', 'pmc_id ' || pmc_id, NULL FROM entries WHERE pmc_id <> '';

-- paper: the columns of a proposed paper
paper_id, title, normalized, is_uninformative, facts;

-- members_by_identifier: the papers with a proposed identifier, also with that of a preprint (§5.23)
SELECT * FROM (
    SELECT 'doi ' || doi AS value, $paper FROM papers WHERE doi <> ''
    UNION ALL SELECT 'arxiv_id ' || arxiv_id, $paper FROM papers WHERE arxiv_id <> ''
    UNION ALL SELECT 'pubmed_id ' || pubmed_id, $paper FROM papers WHERE pubmed_id <> ''
    UNION ALL SELECT 'pmc_id ' || pmc_id, $paper FROM papers WHERE pmc_id <> ''
    UNION ALL SELECT 'doi ' || doi, $paper FROM (SELECT $paper, unnest(preprint_dois) AS doi FROM papers)
) SEMI JOIN (SELECT value FROM proposals) p USING (value);

-- members_by_title: the papers with a proposed title
SELECT normalized AS value, $paper FROM papers SEMI JOIN (SELECT value AS normalized FROM proposals) p USING (normalized);

-- groups: values of several papers
SELECT value, count(*) AS size, bool_or(is_uninformative) AS is_uninformative FROM members GROUP BY value HAVING count(*) > 1;

-- few: candidates of groups with at most $max_group papers, not the citing paper (§7.12); an uninformative title needs more (§7.6)
SELECT $candidate, e.reason, e.score, false AS is_crowded, false AS has_more
FROM proposals e JOIN members p USING (value) LEFT JOIN groups g USING (value)
WHERE coalesce(g.size, 1) <= $max_group AND p.paper_id IS DISTINCT FROM e.citing_paper_id AND (
    e.reason = 'id' OR NOT (e.is_uninformative OR p.is_uninformative OR coalesce(g.is_uninformative, false)) OR $is_confirmed
);

-- key: the steps that narrow a larger group: volume and page, year and surname, year, surname, nothing
CASE step
    WHEN 1 THEN CAST(facts.volume AS VARCHAR) || ' ' || CAST(facts.page AS VARCHAR)
    WHEN 2 THEN CAST(facts.year AS VARCHAR) || ' ' || CAST(facts.surname AS VARCHAR)
    WHEN 3 THEN CAST(facts.year AS VARCHAR)
    WHEN 4 THEN CAST(facts.surname AS VARCHAR)
    ELSE ''
END AS key;

-- crowded: candidates of larger groups: the papers that agree in the first step in which any agrees. Of these, the first $max_group are
-- compared. A paper that is not compared may agree equally: such a link is a tie (§7.8). If it `has_more`, so may the runner-up.
WITH crowds AS (SELECT * FROM groups WHERE size > $max_group),
steps AS (SELECT * FROM (VALUES (1), (2), (3), (4), (5)) AS steps(step)),
narrowed AS (SELECT * FROM (SELECT *, $key FROM members SEMI JOIN crowds USING (value) CROSS JOIN steps) WHERE key IS NOT NULL),
keys AS (SELECT value, step, key, count(*) AS size FROM narrowed GROUP BY value, step, key),
first_papers AS (
    SELECT *, row_number() OVER (PARTITION BY value, step, key ORDER BY paper_id) AS place FROM narrowed QUALIFY place <= $max_group + 2
),
proposed AS (
    SELECT c.*, c.is_uninformative OR g.is_uninformative AS is_strict, step, $key
    FROM proposals c JOIN crowds g USING (value) CROSS JOIN steps
),
sized AS (
    SELECT c.*, own.place AS own_place, k.size - CASE WHEN own.place IS NULL THEN 0 ELSE 1 END AS size
    FROM proposed c JOIN keys k ON k.value = c.value AND k.step = c.step AND k.key = c.key
    LEFT JOIN first_papers own
        ON own.value = c.value AND own.step = c.step AND own.key = c.key AND own.paper_id = c.citing_paper_id
),
narrowest AS (
    SELECT * FROM sized WHERE size > 0 AND (reason = 'id' OR NOT is_strict OR step IN (1, 2, 5))
    QUALIFY step = min(step) OVER (PARTITION BY entry, value) OR (reason = 'id' AND step = 5)
)
SELECT
    $candidate, e.reason, e.score, e.size > $max_group AS is_crowded,
    e.step < 5 AND e.reason <> 'id' AND NOT is_strict AS has_more
FROM narrowest e JOIN first_papers p ON p.value = e.value AND p.step = e.step AND p.key = e.key
WHERE p.place <> coalesce(own_place, 0)
    AND p.place - CASE WHEN own_place < p.place THEN 1 ELSE 0 END <= $max_group
    AND (e.reason = 'id' OR NOT is_strict OR $is_confirmed);

-- once: each candidate once; a paper may have several identifiers of an entry
SELECT
    entry, paper_id, title, normalized, same_title, is_uninformative, cited, given, reason, score, is_crowded, has_more
FROM (FROM few UNION ALL FROM crowded) QUALIFY row_number() OVER (PARTITION BY entry, paper_id ORDER BY is_crowded) = 1;

-- all_found: the candidates of a title
FROM few UNION ALL FROM crowded;

-- without_id: entries without a candidate by identifier
SELECT * FROM entries ANTI JOIN candidates_id USING (entry);

-- by_title: their titles (§7.5)
SELECT $proposal, 'exact' AS reason, normalized AS value, CAST(1 AS DOUBLE) AS score FROM ($without_id) WHERE normalized IS NOT NULL;

-- without_exact: entries without a candidate by equal title
SELECT * FROM ($without_id) ANTI JOIN candidates_exact USING (entry);

-- searched: their titles; an uninformative title needs year and surname, or volume and first page, to agree (§7.6)
SELECT DISTINCT title_hash, normalized FROM without_exact WHERE normalized IS NOT NULL AND (
    NOT is_uninformative OR (facts.year IS NOT NULL AND facts.surname IS NOT NULL)
    OR (facts.volume IS NOT NULL AND facts.page IS NOT NULL)
);

-- searched_keys [compute_title_keys]: their MinHash keys
SELECT title_hash, normalized FROM searched;

-- titles: the distinct titles of papers
SELECT DISTINCT title_hash, normalized FROM papers WHERE normalized IS NOT NULL;

-- title_keys [compute_title_keys]: their MinHash keys
SELECT title_hash, normalized FROM titles;

-- pairs: two titles with $min_keys equal keys; a key of more than $max_titles titles of papers proposes none (§7.14)
WITH found AS (
    SELECT title_hash, key FROM title_keys SEMI JOIN searched_keys USING (key) QUALIFY count(*) OVER (PARTITION BY key) <= $max_titles
)
SELECT s.title_hash AS a, f.title_hash AS b FROM searched_keys s JOIN found f USING (key)
GROUP BY s.title_hash, f.title_hash HAVING count(*) >= $min_keys;

-- scored [score_titles]: S of each pair, if it is above the threshold (§7.4)
SELECT x.normalized AS title_a, y.normalized AS title_b
FROM pairs JOIN searched x ON x.title_hash = a JOIN titles y ON y.title_hash = b;

-- by_similar_title: for each title, the $most most similar titles of papers
SELECT e.entry, e.citing_paper_id, e.normalized, e.is_uninformative, e.facts, 'fuzzy' AS reason, title_b AS value, score
FROM without_exact e JOIN (
    SELECT * FROM scored QUALIFY row_number() OVER (PARTITION BY title_a ORDER BY score DESC, title_b) <= $most
) s ON e.normalized = s.title_a;

-- without_title: entries without a candidate by a title
SELECT * FROM without_exact ANTI JOIN candidates_fuzzy USING (entry);

-- other: what follows the columns of a candidate that has another reason
CAST(NULL AS DOUBLE) AS score, false AS is_crowded, false AS has_more;

-- candidates_prefix [keep_cut]: papers whose title begins with that of an entry, with equal year and surname, and no other volume or page
-- (§7.7); an opening with more than $max_partial papers proposes none
WITH wanted AS (SELECT *, facts.year AS year, facts.surname AS surname FROM ($without_title) WHERE normalized IS NOT NULL),
found AS (
    SELECT * FROM (SELECT *, facts.year AS year, facts.surname AS surname FROM papers) SEMI JOIN wanted USING (year, surname, opening)
    QUALIFY count(*) OVER (PARTITION BY year, surname, opening) <= $max_partial
)
SELECT $candidate, 'prefix' AS reason, $other, e.title AS entry_text, p.title AS paper_text
FROM wanted e JOIN found p ON p.year = e.year AND p.surname = e.surname AND p.opening = e.opening
WHERE starts_with(coalesce(p.normalized, ''), e.normalized)
    AND coalesce(p.facts.volume = e.facts.volume, true) AND coalesce(p.facts.page = e.facts.page, true)
    AND p.paper_id IS DISTINCT FROM e.citing_paper_id;

-- place: a place in print
facts.year AS year, facts.journal_key AS journal_key, facts.volume AS volume, facts.page AS page;

-- candidates_locator [keep_same_journal]: papers at the place in print of an entry without a title (§7.16); a place with more than
-- $max_partial papers proposes none
WITH wanted AS (SELECT *, $place FROM ($without_title) WHERE normalized IS NULL),
found AS (
    SELECT * FROM (SELECT *, $place FROM papers) SEMI JOIN wanted USING (year, journal_key, volume, page)
    QUALIFY count(*) OVER (PARTITION BY year, journal_key, volume, page) <= $max_partial
)
SELECT $candidate, 'locator' AS reason, $other, e.facts.journal AS entry_text, p.facts.journal AS paper_text
FROM wanted e JOIN found p
    ON p.year = e.year AND p.journal_key = e.journal_key AND p.volume = e.volume AND p.page = e.page
WHERE p.paper_id IS DISTINCT FROM e.citing_paper_id;

-- printed [split_references]: the printed references of entries without a candidate, with the places where a title may begin and end
SELECT entry, citing_paper_id, facts.year AS year, raw_text
FROM ($without_title) ANTI JOIN candidates_prefix USING (entry) ANTI JOIN candidates_locator USING (entry)
WHERE length(raw_text) >= $head;

-- heads: the beginnings of the titles that may begin there: $head letters, $long_head letters, or a whole shorter title
SELECT entry, head.place AS place, substr(text, CAST(head.place AS INTEGER) + 1, CAST(head.length AS INTEGER)) AS head
FROM (SELECT entry, text, unnest(heads) AS head FROM printed);

-- candidates_contained [choose_contained by entry]: papers whose complete title begins and ends at such places (§7.18); a beginning of more
-- than $max_partial titles proposes none
WITH found AS (
    SELECT * FROM (
        SELECT $paper, left(normalized, CASE WHEN length(normalized) >= $long_head THEN $long_head ELSE $head END) AS head
        FROM papers WHERE normalized IS NOT NULL
    ) SEMI JOIN heads USING (head) QUALIFY count(*) OVER (PARTITION BY head) <= $max_partial
)
SELECT DISTINCT entry, h.place, p.paper_id, p.title, p.normalized, p.is_uninformative, p.facts, r.year, r.raw_text
FROM found p JOIN heads h USING (head) JOIN printed r USING (entry)
WHERE substr(r.text, CAST(h.place AS INTEGER) + 1, length(p.normalized)) = p.normalized
    AND list_contains(r.ends, h.place + length(p.normalized)) AND p.paper_id IS DISTINCT FROM r.citing_paper_id
ORDER BY entry, length(normalized) DESC, paper_id, place;

-- judged [judge]: the candidates with S, whether their evidence suffices, and the warning if it does not (§7.9, §7.19)
SELECT c.*, e.title AS entry_title, e.normalized AS entry_normalized
FROM (
    FROM candidates_id UNION ALL FROM candidates_exact UNION ALL FROM candidates_fuzzy UNION ALL FROM candidates_prefix
    UNION ALL FROM candidates_locator UNION ALL FROM candidates_contained
) c JOIN entries e USING (entry);

-- chosen: the candidate with the highest S, then with most agreement (§7.4, §7.8); next to it, the runner-up (§7.13)
WITH ranked AS (
    SELECT *, row_number() OVER best AS place, lead(similarity) OVER best AS next_similarity,
        lead(score) OVER best AS next_score, lead(agreement) OVER best AS next_agreement
    FROM judged WINDOW best AS (PARTITION BY entry ORDER BY score DESC NULLS LAST, agreement DESC, paper_id)
)
SELECT
    entry, paper_id, similarity AS score, reason,
    CASE
        WHEN $only_titles = 0 AND warning IS NULL AND (
            is_crowded OR coalesce(next_agreement = agreement AND next_score IS NOT DISTINCT FROM score, false)
        ) THEN 'tie' ELSE warning
    END AS warning,
    CASE WHEN has_more THEN similarity ELSE next_similarity END AS runner_up_score
FROM ranked WHERE place = 1;

-- linked: the entries with their links
SELECT
    b.paper_id, parse_kind, ref_id, c.paper_id AS cited_paper_id, score, coalesce(reason, 'none') AS reason, warning, runner_up_score
FROM (SELECT paper_id, parse_kind, ref_id, $key_of_entry AS entry FROM bibliography) b LEFT JOIN chosen c USING (entry);

-- links: the table `links`; `part` is the number of the bucket
SELECT l.*, part FROM ($linked) l JOIN buckets USING (paper_id);

-- sampled: titles that are compared with all titles
SELECT normalized FROM searched ORDER BY md5(normalized) LIMIT $sample;

-- gold_sample: entries of kept papers that have a title and an identifier
SELECT * FROM bibliography SEMI JOIN papers USING (paper_id)
WHERE title <> '' AND (doi <> '' OR arxiv_id <> '' OR pubmed_id <> '' OR pmc_id <> '')
ORDER BY md5(title), paper_id, parse_kind, ref_id LIMIT $gold_sample;

-- gold_entries [read_entries]: their facts
SELECT $entry FROM gold_sample;

-- gold_entries_without_ids [read_entries]: the same without identifiers
SELECT
    entry, citing_paper_id, title, authors, year, journal, volume, pages, raw_text, CAST(NULL AS VARCHAR) AS doi,
    CAST(NULL AS VARCHAR) AS arxiv_id, CAST(NULL AS VARCHAR) AS pubmed_id, CAST(NULL AS VARCHAR) AS pmc_id
FROM (SELECT $entry FROM gold_sample);

-- gold_links: their links
SELECT entry, paper_id, reason, p.normalized, g.doi
FROM chosen JOIN papers p USING (paper_id) JOIN (SELECT $key_of_entry AS entry, doi FROM gold_sample) g USING (entry);
