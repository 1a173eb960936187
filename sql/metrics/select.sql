-- Pages that go to the extractor.
SELECT 'pages.selected', coalesce(sum(pages), 0) FROM selections WHERE outcome = 'selected'
