-- Link: find the papers that an entry may cite, and choose one (SPEC §7). Each statement is named before its rule; `$name` is a parameter,
-- or the text of an earlier statement. Tables: `papers` and `entries` with their facts (`titles/facts.py`), and `candidates`.
-- `titles/linking.py` runs the statements in this order: by identifier, by equal title, by similar title; then in other ways.

-- described: the facts of an entry or a paper that are compared
{'year': year, 'surname': surname_key, 'journal': journal, 'journal_key': journal_key, 'volume': volume_key, 'page': page_key} AS facts;

-- candidate: the columns of a candidate that come first
e.entry, p.paper_id, p.title, p.normalized, coalesce(p.normalized = e.normalized, false) AS same_title,
e.is_uninformative OR p.is_uninformative AS is_uninformative, e.facts AS cited, p.facts AS given;

-- is_confirmed: what an uninformative title needs: equal year and surname, or equal volume and page (§7.6)
coalesce(
    (p.facts.year = e.facts.year AND p.facts.surname = e.facts.surname)
    OR (p.facts.volume = e.facts.volume AND p.facts.page = e.facts.page), false
);

-- no_candidates: the table `candidates`. A `crowded` candidate is one of a group that was not compared completely; if it `has_more`, a
-- paper that was not compared may agree equally.
CREATE OR REPLACE TEMP TABLE candidates (
    entry INTEGER, paper_id VARCHAR, title VARCHAR, normalized VARCHAR, same_title BOOLEAN, is_uninformative BOOLEAN,
    cited STRUCT(year INTEGER, surname UBIGINT, journal VARCHAR, journal_key UINTEGER, volume UINTEGER, page UINTEGER),
    given STRUCT(year INTEGER, surname UBIGINT, journal VARCHAR, journal_key UINTEGER, volume UINTEGER, page UINTEGER),
    reason VARCHAR, score DOUBLE, is_crowded BOOLEAN, has_more BOOLEAN
);

-- open: entries without a candidate
SELECT * FROM entries ANTI JOIN candidates USING (entry);

-- proposals_id: the identifiers of entries (§7.5)
SELECT *, 'doi ' || doi AS value, NULL::DOUBLE AS score FROM entries WHERE doi <> ''
UNION ALL SELECT *, 'arxiv_id ' || arxiv_id, NULL FROM entries WHERE arxiv_id <> ''
UNION ALL SELECT *, 'pubmed_id ' || pubmed_id, NULL FROM entries WHERE pubmed_id <> ''
UNION ALL SELECT *, 'pmc_id ' || pmc_id, NULL FROM entries WHERE pmc_id <> '';

-- proposals_exact: the titles of other entries (§7.5)
SELECT *, normalized AS value, 1.0 AS score FROM ($open) WHERE normalized IS NOT NULL;

-- searched: the titles of those left; an uninformative title needs year and surname, or volume and first page, to agree (§7.6)
SELECT DISTINCT normalized FROM ($open) WHERE normalized IS NOT NULL AND (
    NOT is_uninformative OR (year IS NOT NULL AND surname_key IS NOT NULL) OR (volume_key IS NOT NULL AND page_key IS NOT NULL)
);

-- proposals_fuzzy: the similar titles of papers (§7.4)
SELECT * FROM ($open) JOIN similar_titles USING (normalized);

-- paper: the facts of a paper that are compared
paper_id, CASE WHEN $reason = 'fuzzy' THEN title END AS title, normalized, is_uninformative, facts;

-- members_id: the papers with a proposed identifier, also with that of a preprint (§5.23)
SELECT 'doi ' || doi AS value, $paper FROM papers SEMI JOIN entries e ON papers.doi = e.doi AND e.doi <> ''
UNION ALL SELECT 'arxiv_id ' || arxiv_id, $paper FROM papers SEMI JOIN entries e ON papers.arxiv_id = e.arxiv_id AND e.arxiv_id <> ''
UNION ALL SELECT 'pubmed_id ' || pubmed_id, $paper FROM papers SEMI JOIN entries e ON papers.pubmed_id = e.pubmed_id AND e.pubmed_id <> ''
UNION ALL SELECT 'pmc_id ' || pmc_id, $paper FROM papers SEMI JOIN entries e ON papers.pmc_id = e.pmc_id AND e.pmc_id <> ''
UNION ALL SELECT 'doi ' || preprint_doi, $paper FROM (SELECT *, unnest(preprint_dois) AS preprint_doi FROM papers)
SEMI JOIN entries e ON preprint_doi = e.doi AND e.doi <> '';

-- members_title: the papers with a proposed title
SELECT value, $paper FROM (SELECT *, normalized AS value FROM papers) SEMI JOIN (SELECT value FROM proposals) USING (value);

-- groups: values of several papers
SELECT value, count(*) AS size, bool_or(is_uninformative) AS is_uninformative FROM members GROUP BY value HAVING size > 1;

-- by_title: candidates of groups with at most $max_group papers, not the citing paper (§7.12); an uninformative title needs more (§7.6)
SELECT $candidate, $reason, e.score, false, false
FROM proposals e JOIN members p USING (value) LEFT JOIN groups g USING (value)
WHERE coalesce(g.size, 1) <= $max_group AND p.paper_id IS DISTINCT FROM e.citing_paper_id AND (
    $reason = 'id' OR NOT (e.is_uninformative OR p.is_uninformative OR coalesce(g.is_uninformative, false))
    OR $is_confirmed
);

-- by_identifier: the same; a paper may have several identifiers of an entry
SELECT DISTINCT * FROM ($by_title);

-- narrow_keys: the steps that narrow a larger group: volume and page, year and surname, year, surname, nothing
unnest([
    {'step': 1, 'key': facts.volume::VARCHAR || ' ' || facts.page::VARCHAR},
    {'step': 2, 'key': facts.year::VARCHAR || ' ' || facts.surname::VARCHAR},
    {'step': 3, 'key': facts.year::VARCHAR}, {'step': 4, 'key': facts.surname::VARCHAR}, {'step': 5, 'key': ''}
], recursive := true);

-- crowded: candidates of larger groups: the papers that agree in the first step in which any agrees. Of these, the first $max_group are
-- compared. A paper that is not compared may agree equally: such a link is a tie (§7.8).
WITH over_full AS (
    SELECT * FROM groups WHERE size > $max_group
), narrowed AS (
    SELECT *, $narrow_keys FROM members SEMI JOIN over_full USING (value)
), keys AS (
    SELECT value, step, key, count(*) AS size FROM narrowed WHERE key IS NOT NULL GROUP BY ALL
), first_papers AS (
    SELECT *, row_number() OVER (PARTITION BY value, step, key ORDER BY paper_id) AS place FROM narrowed WHERE key IS NOT NULL
    QUALIFY place <= $max_group + 2
), crowded_entries AS (
    SELECT c.*, c.is_uninformative OR g.is_uninformative AS is_strict, $narrow_keys FROM proposals c JOIN over_full g USING (value)
), steps AS (
    SELECT c.*, own.place AS own_place, k.size - (own.place IS NOT NULL)::INTEGER AS size
    FROM crowded_entries c JOIN keys k USING (value, step, key)
    LEFT JOIN first_papers own
        ON own.value = c.value AND own.step = c.step AND own.key = c.key AND own.paper_id = c.citing_paper_id
    WHERE k.size > (own.place IS NOT NULL)::INTEGER AND ($reason = 'id' OR NOT is_strict OR c.step IN (1, 2, 5))
    QUALIFY c.step = min(c.step) OVER (PARTITION BY entry, c.value) OR ($reason = 'id' AND c.step = 5)
)
SELECT $candidate, $reason, e.score, e.size > $max_group, e.step < 5 AND $reason <> 'id' AND NOT is_strict
FROM steps e JOIN first_papers p USING (value, step, key)
WHERE p.place <> coalesce(own_place, 0) AND p.place - coalesce(own_place < p.place, false)::INTEGER <= $max_group
    AND ($reason = 'id' OR NOT is_strict OR $is_confirmed);

-- once: each candidate once
SELECT DISTINCT ON (entry, paper_id) * FROM candidates ORDER BY is_crowded;

-- prefix: papers whose title begins with that of an entry, with equal year and surname, and no other volume or page (§7.7); an opening
-- with more than $max_partial papers proposes none
WITH wanted AS (
    SELECT * FROM ($open) WHERE normalized IS NOT NULL
), found AS (
    SELECT * FROM papers SEMI JOIN wanted USING (year, surname_key, opening)
), few AS (
    SELECT year, surname_key, opening FROM found GROUP BY ALL HAVING count(*) <= $max_partial
)
SELECT $candidate, e.title AS entry_text, p.title AS paper_text
FROM wanted e JOIN found p USING (year, surname_key, opening) SEMI JOIN few USING (year, surname_key, opening)
WHERE starts_with(coalesce(p.normalized, ''), e.normalized)
    AND coalesce(p.volume_key = e.volume_key, true) AND coalesce(p.page_key = e.page_key, true)
    AND p.paper_id IS DISTINCT FROM e.citing_paper_id;

-- locator: papers at the place in print of an entry without a title (§7.16); a place with more than $max_partial papers proposes none
WITH wanted AS (
    SELECT * FROM ($open) WHERE normalized IS NULL
), found AS (
    SELECT * FROM papers SEMI JOIN wanted USING (year, journal_key, volume_key, page_key)
), few AS (
    SELECT year, journal_key, volume_key, page_key FROM found GROUP BY ALL HAVING count(*) <= $max_partial
)
SELECT $candidate, e.journal AS entry_text, p.journal AS paper_text
FROM wanted e JOIN found p USING (year, journal_key, volume_key, page_key) SEMI JOIN few USING (year, journal_key, volume_key, page_key)
WHERE p.paper_id IS DISTINCT FROM e.citing_paper_id;

-- contained: papers whose complete title begins and ends at boundaries of a printed reference (§7.18): `starts` and `ends` are places in
-- `texts`. The first $head or $long_head letters of titles are compared first; a beginning of more than $max_partial titles proposes none.
WITH heads AS (
    SELECT entry, place, substr(text, place + 1, $head) AS head FROM starts JOIN texts USING (entry) WHERE length(text) >= place + $head
    UNION ALL
    SELECT entry, place, substr(text, place + 1, $long_head)
    FROM starts JOIN texts USING (entry) WHERE length(text) >= place + $long_head
    UNION ALL
    SELECT entry, s.place, substr(text, s.place + 1, e.place - s.place)
    FROM starts s JOIN ends e USING (entry) JOIN texts USING (entry)
    WHERE e.place - s.place BETWEEN $min_title AND $head - 1
), headed AS (
    SELECT *, CASE WHEN length(normalized) >= $long_head THEN left(normalized, $long_head) ELSE left(normalized, $head) END AS head
    FROM papers WHERE normalized IS NOT NULL
), few AS (
    SELECT head FROM headed SEMI JOIN heads USING (head) GROUP BY head HAVING count(*) <= $max_partial
)
SELECT DISTINCT entry, h.place, p.paper_id, p.title, p.normalized, p.is_uninformative, p.facts
FROM headed p SEMI JOIN few USING (head) JOIN heads h USING (head) JOIN texts t USING (entry)
SEMI JOIN ends e ON e.entry = h.entry AND e.place = h.place + length(p.normalized)
WHERE substr(t.text, h.place + 1, length(p.normalized)) = p.normalized AND p.paper_id IS DISTINCT FROM t.citing_paper_id
ORDER BY entry, length(p.normalized) DESC, p.paper_id, h.place;

-- chosen: the candidate with the highest S, then with most agreement: title, enough evidence, journal, volume, page, year, surname
-- (§7.4, §7.8); next to it, the runner-up (§7.13)
WITH several AS (
    SELECT entry FROM judged GROUP BY entry HAVING count(*) > 1
), ranked AS (
    SELECT *, row_number() OVER best AS place, lead(similarity) OVER best AS next_similarity,
        lead(score) OVER best AS next_score, lead(agreement) OVER best AS next_agreement
    FROM (SELECT *, list_transform([
            same_title, agrees, given.journal_key = cited.journal_key, given.volume = cited.volume, given.page = cited.page,
            given.year = cited.year, given.surname = cited.surname
        ], lambda fact: coalesce(fact, false)) AS agreement
        FROM judged SEMI JOIN several USING (entry))
    WINDOW best AS (PARTITION BY entry ORDER BY score DESC NULLS LAST, agreement DESC, paper_id)
)
SELECT entry, paper_id, similarity AS score, reason, warning, CASE WHEN has_more THEN similarity ELSE next_similarity END AS runner_up_score,
    is_crowded OR coalesce(next_agreement = agreement AND next_score IS NOT DISTINCT FROM score, false) AS is_tied
FROM (FROM ranked WHERE place = 1 UNION ALL BY NAME FROM judged ANTI JOIN several USING (entry));
