"""Define the tables of assemble to split: full texts, entries, links and documents."""

from __future__ import annotations

from typing import Annotated, TypedDict

from s2corpus.tables.columns import (
    ENTRY_AUTHORS,
    AuthorName,
    CitedPaperId,
    LogProb,
    PaperId,
    ParagraphNumber,
    ParseKind,
    RefId,
    RemovedSections,
    SectionLogProbs,
    Set,
    TopShare,
    TopWord,
    Year,
)
from s2corpus.tables.schema import INT32, define

ParseId = Annotated[str, "id of the parse"]


class FulltextRow(TypedDict):
    """Parses, assigned to their papers (S2ORC §2.4)."""

    paper_id: PaperId
    parse_kind: ParseKind
    parse_id: ParseId
    file_sha1: Annotated[str, "SHA-1 of the PDF or source archive"]
    open_access: Annotated[bool, "whether the text may be published; if false, only bibliography and links"]
    oa_evidence: Annotated[str | None, "evidence of open access"]
    license: Annotated[str | None, "license of the file"]
    text_layer: Annotated[
        str | None, "for PDFs: pages read by OCR, and pages with a defective text layer, as in extractions"
    ]
    parse: Annotated[bytes, "canonical JSON of the parse, with paper_id, UTF-8"]


FULLTEXTS = define(FulltextRow, "fulltexts", key=("paper_id", "parse_kind"), shards="paper")


class EntryRow(TypedDict):
    """Bibliography entries of the assembled parses."""

    paper_id: PaperId
    parse_kind: ParseKind
    ref_id: RefId
    parse_id: ParseId
    title: Annotated[str | None, "title as printed"]
    authors: Annotated[list[AuthorName] | None, ENTRY_AUTHORS, "authors in order"]
    year: Year
    venue: Annotated[str | None, "venue as printed"]
    volume: Annotated[str | None, "volume as printed"]
    issue: Annotated[str | None, "issue as printed"]
    pages: Annotated[str | None, "pages as printed"]
    doi: Annotated[str | None, "DOI"]
    arxiv_id: Annotated[str | None, "arXiv id"]
    pubmed_id: Annotated[str | None, "PubMed id"]
    pmc_id: Annotated[str | None, "PubMed Central id"]
    raw_text: Annotated[str | None, "full text of the entry as printed"]


ENTRIES = define(EntryRow, "entries", key=("paper_id", "parse_kind", "ref_id"), shards="paper")


class FilteredRow(TypedDict):
    """The decision whether a paper is in the corpus (S2ORC §2.5)."""

    paper_id: PaperId
    outcome: Annotated[str, "first rule that rejects the paper, or kept (`FilterOutcome`, in order)"]
    characters: Annotated[int | None, "length of abstract and body, characters"]
    english: Annotated[float | None, "probability of English by the spec's `filter.language`; null if not evaluated"]
    disputed: Annotated[bool | None, "with CLD2: whether CLD3 disagrees; null if not evaluated"]


FILTERED = define(FilteredRow, "filtered", key=("paper_id",), shards="paper", counted=(("outcome",),))


class LinkRow(TypedDict):
    """Bibliography entries and the papers of the corpus that they cite (S2ORC §2.6)."""

    paper_id: PaperId
    parse_kind: ParseKind
    ref_id: RefId
    cited_paper_id: CitedPaperId
    score: Annotated[float | None, "title similarity S (S2ORC, equation 1)"]
    reason: Annotated[
        str, "rule that links the entry: id, exact, fuzzy, prefix, locator or contained; none if unlinked"
    ]
    warning: Annotated[
        str | None,
        "numeral: titles differ in a number; tie: another paper matches equally; contradiction: other facts differ",
    ]
    runner_up_score: Annotated[
        float | None, "title similarity of the second candidate; for id and exact, of another equal candidate"
    ]


LINKS = define(
    LinkRow, "links", key=("paper_id", "parse_kind", "ref_id"), shards="paper", plain=("paper_id", "cited_paper_id")
)


class ContextRow(TypedDict):
    """Inline citations of open papers with their paragraphs (GORC §3)."""

    paper_id: PaperId
    parse_kind: ParseKind
    paragraph: ParagraphNumber
    start: Annotated[int, INT32, "start of the span in the paragraph, code points"]
    end: Annotated[int, INT32, "end of the span in the paragraph, code points, exclusive"]
    ref_id: RefId
    cited_paper_id: CitedPaperId
    text: Annotated[str, "text of the paragraph"]


CONTEXTS = define(
    ContextRow, "contexts", key=("paper_id", "parse_kind", "paragraph", "start", "end", "ref_id"), shards="paper"
)


class DocumentRow(TypedDict):
    """The cleaning decision for each paper in each set, with measured values, and the text of accepted documents."""

    set: Set
    paper_id: PaperId
    outcome: Annotated[str, "first rule that rejects the document, or kept"]
    language: Annotated[str | None, "language by vote of paragraphs (mul: several); null if not evaluated"]
    language_votes: Annotated[
        list[tuple[str, Annotated[int, INT32]]] | None,
        "language → number of paragraphs; counting ends when the majority is certain",
    ]
    words: Annotated[int | None, "number of words"]
    paragraphs: Annotated[int | None, INT32, "number of paragraphs after cleaning"]
    top_word: TopWord
    top_share: TopShare
    log_prob: LogProb
    removed_sections: RemovedSections
    section_log_probs: SectionLogProbs
    text_key: Annotated[int | None, "hash of the normalized text, only if kept"]
    title_key: Annotated[int | None, "hash of normalized title and first author's surname, only if kept"]
    minhash: Annotated[list[int] | None, "MinHash keys of the text's word n-grams, one per band, only if kept"]
    text: Annotated[str | None, "text of the document, only if kept"]
    sha1: Annotated[str | None, "s2orc: SHA-1 of the text's file"]
    oa_evidence: Annotated[str | None, "s2orc: evidence that the file is open"]
    license: Annotated[str | None, "s2orc: license of the file"]


DOCUMENTS = define(
    DocumentRow, "documents", key=("set", "paper_id"), shards="paper", counted=(("set", "outcome"), ("set", "language"))
)


class SplitRow(TypedDict):
    """The split of every accepted document."""

    set: Set
    paper_id: PaperId
    split: Annotated[
        str,
        "train, valid, held_back:late, held_back:undated, held_back:duplicate (equal text) or "
        "held_back:near_duplicate (similar text, or title and first author)",
    ]
    reason: Annotated[str | None, "date that determined the split, or paper_id of the duplicated document"]


SPLITS = define(SplitRow, "splits", key=("set", "paper_id"), shards="paper", counted=(("set", "split"),))


class DuplicateRow(TypedDict):
    """Duplicate documents of train and valid, by cluster."""

    cluster: Annotated[str, "paper_id of the representative: the earliest document, in train if possible"]
    set: Set
    paper_id: PaperId
    split: Annotated[str, "split of the document, as in splits"]
    reason: Annotated[
        str | None,
        "text (equal), title (and first author, equal to those of a train text), words (similar "
        "n-grams); null for the representative",
    ]
    duplicate_of: Annotated[str | None, "paper_id of the most similar document; the first one for equal texts"]
    jaccard: Annotated[float | None, "exact Jaccard index of the word n-grams of both documents; null for reason title"]


DUPLICATES = define(DuplicateRow, "duplicates", key=("cluster", "set", "paper_id"))
