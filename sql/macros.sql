-- Macros that several checks use.

-- Return the share part/whole of a stage's metrics in this release and its parent: one row if the share changed by more than `threshold`
-- times the parent's share. No row if one of the releases has fewer than min_n items.
CREATE MACRO drift(of_stage, part, whole, threshold, min_n) AS TABLE
SELECT now.share AS share, parent.share AS parent_share, now.n AS n
FROM
  (SELECT coalesce(max(value) FILTER (name = part), 0) / nullif(max(value) FILTER (name = whole), 0) AS share,
     max(value) FILTER (name = whole) AS n FROM metrics WHERE stage = of_stage) AS now,
  (SELECT coalesce(max(value) FILTER (name = part), 0) / nullif(max(value) FILTER (name = whole), 0) AS share,
     max(value) FILTER (name = whole) AS n FROM parent_metrics WHERE stage = of_stage) AS parent
WHERE now.n >= min_n AND parent.n >= min_n AND abs(now.share - parent.share) > threshold * parent.share;

-- Return a count of a stage's metrics in this release and in a parent with the same drop patterns: one row if it is less than half of the
-- parent's count.
CREATE MACRO lost_half(of_stage, counted) AS TABLE
SELECT now.n AS n, parent.n AS parent_n
FROM
  (SELECT coalesce(sum(value) FILTER (name IN counted), 0) AS n FROM metrics WHERE stage = of_stage) AS now,
  (SELECT sum(value) FILTER (name IN counted) AS n FROM parent_counts WHERE stage = of_stage) AS parent
WHERE now.n < 0.5 * parent.n;

-- Return the share of items that each added rule drops (metric `<prefix>.rule:<name>`) in this release and its parent: one row for each share
-- that changed by more than the threshold. The metric of all items is `<prefix>.rows` or `rows`.
CREATE MACRO drift_of_rules(of_stage, threshold, min_n) AS TABLE
WITH shares AS (
  SELECT part.is_parent, part.name, part.value / whole.value AS share, whole.value AS n
  FROM (SELECT false AS is_parent, * FROM metrics UNION ALL SELECT true, * FROM parent_metrics) AS part
  JOIN (SELECT false AS is_parent, * FROM metrics UNION ALL SELECT true, * FROM parent_metrics) AS whole
    ON part.is_parent = whole.is_parent AND whole.stage = of_stage
      AND whole.name = replace(split_part(part.name, 'rule:', 1) || 'rows', 'outcome.', '')
  WHERE part.stage = of_stage AND contains(part.name, '.rule:') AND whole.value >= min_n
)
SELECT now.name AS name, now.share AS share, parent.share AS parent_share, now.n AS n
FROM (FROM shares WHERE NOT is_parent) AS now JOIN (FROM shares WHERE is_parent) AS parent USING (name)
WHERE abs(now.share - parent.share) > threshold * parent.share;
