-- PDFs and their bytes, and records by source.
SELECT 'bytes', coalesce(sum(bytes), 0) FROM pdfs
UNION ALL SELECT 'latex_bytes', coalesce(sum(bytes), 0) FROM latex_sources
UNION ALL SELECT 'article_bytes', coalesce(sum(bytes), 0) FROM articles
UNION ALL SELECT 'records.' || source, count(*) FROM records GROUP BY source
