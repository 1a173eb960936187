"""The built-in metadata sources, in descending order of trust. A new adapter is registered here; nothing else lists the sources."""

DECLARED = "declared"
"""source of the statements of a delivery about its PDFs (`records.jsonl` of a drop); it has no adapter"""
_ORDER = (
    "jats", "elsevier", "crossref", "acl", "pubmed", DECLARED, "dblp", "openalex", "s2ag", "s2orc", "arxiv", "jsonl", "unpaywall",
    "scienceparse",
)  # fmt: skip
_NAMES = {"s2ag": "s2", "s2orc": "s2"}
"""source of the records of a module, if it is not the module's name"""

ADAPTERS = tuple(module for module in _ORDER if module != DECLARED)
"""modules in `s2corpus.sources`"""
TRUST = tuple(dict.fromkeys(_NAMES.get(module, module) for module in _ORDER))
"""sources in descending order of trust"""
