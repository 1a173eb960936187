"""The page "Corpus releases": the state of releases and the trace of papers. It writes only evaluation marks; see docs/page.md."""
