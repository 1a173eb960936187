-- PDFs and their bytes, and records by source.
SELECT 'bytes', coalesce(sum(bytes), 0) FROM pdfs
UNION ALL SELECT 'latex_bytes', coalesce(sum(bytes), 0) FROM latex_sources
UNION ALL SELECT 'article_bytes', coalesce(sum(bytes), 0) FROM articles
UNION ALL SELECT 'files.copy', coalesce(sum(len(places) - 1), 0) FROM pdfs
UNION ALL SELECT 'files.not_read', coalesce(sum(not_read), 0) FROM deliveries WHERE outcome = 'taken'
UNION ALL SELECT 'records.' || source, count(*) FROM records GROUP BY source
