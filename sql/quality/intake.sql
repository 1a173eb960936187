-- Inputs of a release: each is counted once, and each refusal is reported.

-- check: nothing_refused
-- severity: warn
-- reason: a drop or delivery differs from its _READY: ask its deliverer to deliver it again; until then the release omits it
SELECT kind, source, delivery, outcome, detail FROM deliveries WHERE outcome LIKE 'refused:%';

-- check: objects_are_readable
-- severity: warn
-- reason: the lake refuses access to a file of a drop or delivery: let its owner grant access to the keys of the pipeline; until then the release omits it
SELECT kind, source, delivery, detail FROM deliveries WHERE outcome = 'unreadable_object';

-- check: declarations_are_usable
-- severity: warn
-- reason: records.jsonl of a drop has unusable lines, which were ignored: correct the lines and deliver records.jsonl again
SELECT delivery AS "drop", unnest(warnings) AS warning FROM deliveries WHERE outcome = 'taken';

-- check: drops_agree_on_access
-- severity: warn
-- reason: one drop declares a file closed, another declares it open: the release treats it as closed; ask the deliverers, and deliver the wrong drop again
SELECT sha1, string_agg(place."drop" || '/' || place.name, ', ') FILTER (NOT place.open_access) AS closed_by,
  string_agg(place."drop" || '/' || place.name, ', ') FILTER (place.open_access) AS opened_by
FROM (
  SELECT file_sha1 AS sha1, unnest(places) AS place FROM pdfs UNION ALL SELECT archive_sha1, unnest(places) FROM latex_sources
) GROUP BY sha1 HAVING closed_by IS NOT NULL AND opened_by IS NOT NULL;

-- check: few_records_dropped
-- severity: warn
-- threshold: 0.01
-- reason: the share of unreadable entries of a delivery exceeds the threshold: list the entries with `corpus records <source> <file> --dropped out.jsonl`
SELECT source, delivery, "rows", dropped FROM deliveries WHERE dropped > $threshold * ("rows" + dropped);

-- check: something_to_do
-- severity: warn
-- reason: the release has no PDFs and no records: deliver some, or correct the spec's patterns
SELECT 'no PDFs and no records' AS what WHERE NOT EXISTS (FROM pdfs) AND NOT EXISTS (FROM records);

-- check: half_of_the_pdfs
-- severity: block
-- overridable: yes
-- reason: fewer than half of the parent's PDFs: correct a drop pattern that matches too little; look for drops that were removed or refused
FROM lost_half('intake', ['pdfs']);
