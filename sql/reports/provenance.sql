-- Sources of the papers.

-- table: Records by source
-- columns: Source, Kind, Records, Papers
SELECT source, kind, count(*), count(DISTINCT paper_id) FROM members GROUP BY ALL ORDER BY count(*) DESC, source, kind;

-- table: Sources and rules that decided the fields
-- columns: Field, Rule, Source, Papers
SELECT field, provenance[field].rule AS rule, provenance[field].source AS source, count(*)
FROM papers, LATERAL (SELECT unnest(map_keys(provenance)) AS field) GROUP BY ALL ORDER BY field, count(*) DESC, rule, source;

-- table: Evidence that full texts are open access
-- columns: Full text, Evidence, License, Files
SELECT one.kind, coalesce(one.oa_evidence, 'none: closed'), coalesce(one.license, 'not said'), count(*)
FROM (SELECT unnest(access) AS one FROM papers) GROUP BY ALL ORDER BY count(*) DESC, 1, 2, 3;
