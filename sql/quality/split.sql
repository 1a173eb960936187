-- Every document is in exactly one split, and no train text has a duplicate in valid.

-- check: splits_key_is_unique
-- severity: block
-- overridable: no
-- reason: a key occurs twice in splits: the stage wrote a row twice; clear it and report the key
SELECT "set", paper_id, count(*) AS times FROM splits GROUP BY ALL HAVING times > 1;

-- check: every_document_has_a_split
-- severity: block
-- overridable: no
-- reason: documents were lost or invented in split: clear it
WITH kept AS (SELECT "set", paper_id FROM documents WHERE outcome = 'kept')
SELECT "set", paper_id FROM kept ANTI JOIN splits USING ("set", paper_id) UNION ALL SELECT "set", paper_id FROM splits ANTI JOIN kept USING ("set", paper_id);

-- check: split_is_known
-- severity: block
-- overridable: no
-- reason: a split that SEMANTICS does not name
SELECT "set", paper_id, split FROM splits WHERE split NOT IN ('train', 'valid') AND split NOT LIKE 'held_back:%';

-- check: one_split_a_paper
-- severity: block
-- overridable: no
-- reason: a paper is in train and in valid
SELECT paper_id FROM splits WHERE split IN ('train', 'valid') GROUP BY paper_id HAVING count(DISTINCT split) > 1;

-- check: no_duplicate_of_a_train_text
-- severity: block
-- overridable: no
-- reason: a valid text equals a train text
WITH texts AS (SELECT sha256(lower(regexp_replace(text, '[^\p{L}\p{N}]+', ' ', 'g'))) AS duplicate, split FROM documents JOIN splits USING ("set", paper_id) WHERE outcome = 'kept')
SELECT duplicate, count(*) AS texts FROM texts WHERE split IN ('train', 'valid') GROUP BY duplicate HAVING count(DISTINCT split) > 1;

-- check: some_documents
-- severity: block
-- overridable: yes
-- reason: no document is left in train or valid: nothing was ready before its as_of, or the rules dropped everything (see the funnel)
SELECT 'no documents' AS what WHERE NOT EXISTS (FROM splits WHERE split IN ('train', 'valid'));

-- check: half_of_the_documents
-- severity: block
-- overridable: yes
-- reason: fewer than half of the parent's documents: see the funnel for the stage that lost them
SELECT now.n AS n, parent.n AS parent_n
FROM
  (SELECT count(*) AS n FROM splits WHERE split IN ('train', 'valid')) AS now,
  (SELECT sum(value) AS n FROM parent_counts WHERE stage = 'split' AND (name LIKE '%.train' OR name LIKE '%.valid')) AS parent
WHERE now.n < 0.5 * parent.n;
