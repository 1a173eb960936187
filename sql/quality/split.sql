-- Every document is in exactly one split, no text is published twice, and no similar texts are in train and in valid.

-- check: every_document_has_a_split
-- severity: block
-- overridable: no
-- by: paper
-- reason: documents were lost or added in split: clear it
WITH kept AS (SELECT "set", paper_id FROM documents WHERE outcome = 'kept')
SELECT "set", paper_id FROM kept ANTI JOIN splits USING ("set", paper_id) UNION ALL SELECT "set", paper_id FROM splits ANTI JOIN kept USING ("set", paper_id);

-- check: one_split_a_paper
-- severity: block
-- overridable: no
-- by: paper
-- reason: a paper is in train and in valid
SELECT paper_id FROM splits WHERE split IN ('train', 'valid') GROUP BY paper_id HAVING count(DISTINCT split) > 1;

-- check: no_duplicate_of_a_train_text
-- severity: block
-- overridable: no
-- reason: a text is published twice: one of several equal texts is train or valid, the others are held_back:duplicate
WITH texts AS (SELECT sha256(lower(trim(regexp_replace(text, '[^\p{L}\p{N}]+', ' ', 'g')))) AS duplicate, split FROM documents JOIN splits USING ("set", paper_id) WHERE outcome = 'kept')
SELECT duplicate, count(*) AS texts FROM texts WHERE split IN ('train', 'valid') GROUP BY duplicate HAVING count(*) > 1 AND $near_duplicates <> 'ignore';

-- check: no_cluster_in_train_and_valid
-- severity: block
-- overridable: no
-- reason: similar texts are in train and in valid
SELECT cluster, count(*) AS documents FROM duplicates WHERE split IN ('train', 'valid') GROUP BY cluster HAVING count(DISTINCT split) > 1;

-- check: every_duplicate_is_split_as_its_cluster_says
-- severity: block
-- overridable: no
-- reason: duplicates and splits contradict each other: clear split
SELECT "set", paper_id, duplicates.split AS listed, splits.split FROM duplicates LEFT JOIN splits USING ("set", paper_id) WHERE splits.split IS DISTINCT FROM duplicates.split
UNION ALL SELECT "set", paper_id, NULL, split FROM splits ANTI JOIN duplicates USING ("set", paper_id) WHERE split IN ('held_back:duplicate', 'held_back:near_duplicate');

-- check: some_documents
-- severity: block
-- overridable: yes
-- reason: no document is left in train or valid: find the stage in the funnel; deliver input that is ready before as_of, or correct the rules
SELECT 'no documents' AS what WHERE NOT EXISTS (FROM splits WHERE split IN ('train', 'valid'));

-- check: lost_documents
-- severity: block
-- overridable: yes
-- reason: more than a tenth of the parent's documents are missing: find the stage that lost them in the funnel
SELECT now.n AS n, parent.n AS parent_n
FROM
  (SELECT count(*) AS n FROM splits WHERE split IN ('train', 'valid')) AS now,
  (SELECT sum(value) AS n FROM parent_counts WHERE stage = 'split' AND (name LIKE '%.train' OR name LIKE '%.valid')) AS parent
WHERE now.n < 0.9 * parent.n;
