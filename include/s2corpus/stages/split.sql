-- Split: find the documents that may be duplicates (SPEC §9). Each statement makes a table, which is named before its rule; see
-- `storage/engine.py`.

-- repeated: keys of equal texts, and of equal titles with equal first authors (§9.6, §9.7)
SELECT key FROM (SELECT text_key AS key FROM documents UNION ALL SELECT title_key FROM documents)
WHERE key IS NOT NULL GROUP BY key HAVING count(*) > 1;

-- shared: MinHash keys of several texts (§9.7)
SELECT key FROM (SELECT text_key, unnest(minhash) AS key FROM documents) GROUP BY key HAVING min(text_key) < max(text_key);

-- texts: the texts with each of these keys, numbered
SELECT key, text_key, row_number() OVER (PARTITION BY key ORDER BY text_key) AS place FROM (
    SELECT DISTINCT key, text_key FROM (SELECT text_key, unnest(minhash) AS key FROM documents) SEMI JOIN shared USING (key)
);

-- pairs: each text, with the next $most texts that have an equal key
SELECT DISTINCT l.text_key AS a, r.text_key AS b
FROM (SELECT *, unnest([place // $most, place // $most + 1]) AS block FROM texts) l
JOIN (SELECT *, place // $most AS block FROM texts) r ON r.key = l.key AND r.block = l.block
WHERE r.place - l.place BETWEEN 1 AND $most;
