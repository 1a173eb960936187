"""The page "Corpus releases": what became of every release and paper. Read-only; see docs/page.md."""
