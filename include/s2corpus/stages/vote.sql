-- Vote: bring the facts about its records to each bucket of papers (SPEC §5). Each statement makes a table, which is named before its
-- rule; see `storage/engine.py`. An identifier is `<kind>:<value>`. Column `part` is the number of the bucket.

-- files: the PDFs, LaTeX sources and publishers' full texts that the identifier of a record names; of several, the one that was seen
-- last, then the one with the smallest SHA-1 (§5.3)
SELECT about, sha1, kind, parse_id, first_seen, doi, pmc_id, license, open_access, places FROM (
    SELECT
        'pdf:' || file_sha1 AS about, file_sha1 AS sha1, 'pdf' AS kind, NULL AS parse_id, first_seen,
        NULL AS doi, NULL AS pmc_id, NULL AS license, NULL AS open_access, places
    FROM pdfs
    UNION ALL
    SELECT 'arxiv:' || p.arxiv_id, archive_sha1, 'latex', parse_id, p.first_seen, NULL, NULL, NULL, NULL, places
    FROM latex_parses p JOIN latex_sources USING (archive_sha1) WHERE outcome = 'ok'
    UNION ALL
    SELECT
        'record:' || record_id, file_sha1, p.kind, NULL, p.first_seen, doi, pmc_id, license, open_access,
        list_transform(
            places,
            lambda place: {'drop': place.folder, 'name': place.name, 'open_access': place.open_access, 'license': place.license}
        )
    FROM (SELECT *, unnest(record_ids) AS record_id FROM article_parses WHERE outcome = 'ok') p JOIN articles USING (file_sha1)
) QUALIFY row_number() OVER (PARTITION BY about ORDER BY first_seen DESC, sha1) = 1;

-- known: the identifiers that a file or a notice is about
SELECT about FROM files UNION SELECT about FROM notices;

-- buckets [find_buckets]: the bucket of each paper
SELECT DISTINCT paper_id FROM members;

-- requests: the identifiers of the records of each bucket
SELECT DISTINCT part, about FROM (
    SELECT paper_id, unnest([
        CASE WHEN kind = 'pdf' THEN 'pdf:' || file_sha1 END, 'arxiv:' || arxiv_id, 'record:' || record_id, 'doi:' || doi,
        'pmid:' || pubmed_id
    ]) AS about
    FROM members
) SEMI JOIN known USING (about) JOIN buckets USING (paper_id);

-- file_rows: the files of each bucket
SELECT part, files.* FROM files JOIN requests USING (about);

-- notice_rows: the notices of retraction and correction about its papers
SELECT part, notices.* FROM notices JOIN requests USING (about);

-- declared [read_declared_fields]: the journal of each record, and the fields of study that it declares (§5.14)
SELECT paper_id, record_id, source, kind, journal, issns, subjects FROM members;

-- journals: the journal of each paper
SELECT DISTINCT paper_id, unnest(journals) AS journal FROM declared;

-- field_counts: the papers of each journal that declare a field, and the papers that declare any field
WITH fields AS (SELECT DISTINCT paper_id, unnest(fields) AS field FROM declared)
SELECT journal, field, count(*) AS papers FROM journals JOIN fields USING (paper_id) GROUP BY journal, field;

-- journal_rows: the counts of the journals of each bucket
SELECT part, field_counts.* FROM (SELECT DISTINCT part, journal FROM journals JOIN buckets USING (paper_id)) JOIN field_counts USING (journal);
