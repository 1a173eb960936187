-- What a release sees: nothing counted twice, nothing refused unseen.

-- check: pdfs_key_is_unique
-- severity: block
-- overridable: no
-- by: pdf
-- reason: a key occurs twice in pdfs: the stage wrote a row twice; clear it and report the key
SELECT file_sha1, count(*) AS times FROM pdfs GROUP BY ALL HAVING times > 1;

-- check: latex_sources_key_is_unique
-- severity: block
-- overridable: no
-- by: pdf
-- reason: a key occurs twice in latex_sources: the stage wrote a row twice; clear it and report the key
SELECT archive_sha1, count(*) AS times FROM latex_sources GROUP BY ALL HAVING times > 1;

-- check: articles_key_is_unique
-- severity: block
-- overridable: no
-- by: pdf
-- reason: a key occurs twice in articles: the stage wrote a row twice; clear it and report the key
SELECT file_sha1, count(*) AS times FROM articles GROUP BY ALL HAVING times > 1;

-- check: records_key_is_unique
-- severity: block
-- overridable: no
-- by: record
-- reason: a key occurs twice in records: the stage wrote a row twice; clear it and report the key
SELECT record_id, count(*) AS times FROM records GROUP BY ALL HAVING times > 1;

-- check: nothing_refused
-- severity: warn
-- reason: a drop or delivery differs from its _READY: have it delivered again; until then the release goes without it
SELECT kind, source, delivery, outcome, detail FROM deliveries WHERE outcome LIKE 'refused:%';

-- check: declarations_are_usable
-- severity: warn
-- reason: a drop says of its files what cannot be used; it was taken without: correct the line and deliver records.jsonl again
SELECT delivery AS "drop", unnest(warnings) AS warning FROM deliveries WHERE outcome = 'taken';

-- check: drops_agree_on_access
-- severity: warn
-- reason: one drop declares closed what another declares open: closed wins; ask who delivered them
SELECT sha1, string_agg(place."drop" || '/' || place.name, ', ') FILTER (NOT place.open_access) AS closed_by,
  string_agg(place."drop" || '/' || place.name, ', ') FILTER (place.open_access) AS opened_by
FROM (
  SELECT file_sha1 AS sha1, unnest(places) AS place FROM pdfs UNION ALL SELECT archive_sha1, unnest(places) FROM latex_sources
) GROUP BY sha1 HAVING closed_by IS NOT NULL AND opened_by IS NOT NULL;

-- check: few_records_dropped
-- severity: warn
-- threshold: quality.max_dropped
-- reason: more of a delivery than the threshold could not be read: compare its form with docs/sources.md
SELECT source, delivery, "rows", dropped FROM deliveries WHERE dropped > $threshold * ("rows" + dropped);

-- check: something_to_do
-- severity: warn
-- reason: the release sees neither PDFs nor records: nothing was ready before its as_of, or the spec's patterns match nothing
SELECT 'no PDFs and no records' AS what WHERE NOT EXISTS (FROM pdfs) AND NOT EXISTS (FROM records);

-- check: half_of_the_pdfs
-- severity: block
-- overridable: yes
-- reason: fewer than half of the parent's PDFs: a drop pattern that matches too little, or drops that were removed or refused
FROM lost_half('intake', ['pdfs']);
