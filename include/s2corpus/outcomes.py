"""Declare every outcome of the stages once: its meaning, what an operator does, and its row in the papers' tables.

The enums, the checks `*_is_known`, the funnel, Tables 2 and 8, the labels of the page, `corpus report` and the tables of the
documentation follow. A stage names its lists in `pipeline.stages`.
"""

from __future__ import annotations

from s2orc_parse.outcomes import Outcome, PaperRow, Word

_M = 1_000_000
S2ORC_PAPERS = 81.1 * _M
"""papers of S2ORC after all filters (§2.5)"""
_UNREADABLE = PaperRow("Unreadable or encrypted (PyPDF2 error)", 0.54 * _M)


class DeliveryOutcome(Outcome):
    """The outcome of registering a drop or delivery, unless it is refused."""

    TAKEN = Word("taken", "verified", is_kept=True)
    NOT_YET = Word(
        "not_yet", "ready after `as_of`", "the next release reads it; or use a later `as_of`", "not ready yet"
    )
    UNREADABLE_OBJECT = Word(
        "unreadable_object",
        "the lake refuses access to `_READY` or a file; the detail has its key",
        "let the owner grant `s3:GetObject` (and `kms:Decrypt`), restore the file, or deliver it again",
    )


class Refusal(Outcome):
    """Reason for the refusal of a drop or delivery."""

    UNREADABLE = Word("unreadable", "`_READY` has a wrong form, a repeated key, or over 256 MB", "write it again")
    BAD_NAME = Word(
        "bad_name", "a name leaves the folder, occurs twice or is not printable", "rename the file, list it once"
    )
    INCOMPLETE = Word("incomplete", "a listed file is missing", "upload the file, or deliver without it")
    UNLISTED = Word("unlisted", "the folder contains an unlisted file", "delete the file, or list it")
    CHANGED = Word(
        "changed",
        "size or SHA-256 of a file differs from the list",
        "upload the file again, or deliver a new drop",
    )
    UNKNOWN_SOURCE = Word(
        "unknown_source",
        "no adapter has the folder's name, or it is reserved (`declared`, an extractor)",
        "correct the name, or install the [source](sources.md)",
    )
    BAD_RECORDS = Word(
        "bad_records",
        "`records.jsonl` claims foreign records, or a value has a wrong type",
        "correct the named line and key",
    )


class FileOutcome(Outcome):
    """The outcome of a file of a drop that no stage after intake counts."""

    COPY = Word("copy", "a PDF with the bytes of another PDF of the release: they are one PDF", label="copies")
    NOT_READ = Word(
        "not_read",
        "no PDF, LaTeX source, publisher's full text or description of files",
        "`corpus check` gives the reason for each file",
        label="files that no release reads",
    )


class SelectOutcome(Outcome):
    """The outcome of selecting a PDF, in the order of the checks (S2ORC App. B)."""

    UNREADABLE = Word(
        "unreadable",
        "pypdf raises an exception, or reaches its time or memory limit; `access refused` is a fault of the lake",
        "deliver a complete file, or grant access",
        paper=_UNREADABLE,
    )
    ENCRYPTED = Word("encrypted", "needs a password", "deliver it unlocked", paper=_UNREADABLE)
    TOO_MANY_PAGES = Word(
        "too_many_pages",
        "more than `select.max_pages` (50)",
        "nothing: a book or thesis (S2ORC App. B)",
        paper=PaperRow("Over 50 pages", 2.27 * _M),
    )
    LANDSCAPE = Word(
        "landscape",
        "page 1 is wider than high",
        "nothing: slides or a poster (S2ORC App. B)",
        paper=PaperRow("Page width > height", 0.28 * _M),
    )
    PDFALTO_FAILED = Word(
        "pdfalto_failed",
        "pdfalto: exit code ≠ 0, over its time or memory limit, or `no text strings` (a scan)",
        "scans: `extract: {ocr: scans}` and the extra `ocr`",
        paper=PaperRow("PDFAlto error", 0.21 * _M),
    )
    SELECTED = Word("selected", "otherwise", is_kept=True)


class CorrectionOutcome(Outcome):
    """The outcome of an operator's correction (SPEC §5.25)."""

    APPLIED = Word("applied", "the paper has the value", is_kept=True)
    SUPERSEDED = Word("superseded", "a later correction of the same field applies")
    NO_PAPER = Word("no_paper", "no paper of the release has the id or had it", "`corpus correct` with the present id")
    REFUSED = Word(
        "refused",
        "a license or openness that no full text takes: it is more open, and lacks the URL of a statement or the SHA-1 of the text",
        "`corpus correct` with the SHA-1 and `--evidence URL`",
    )


_REFUSED_BY_GROBID = "nothing: GROBID refuses the PDF finally"


class ExtractOutcome(Outcome):
    """The outcome of a PDF's extraction. The next release retries outcomes that are not final."""

    OK = Word("ok", "the answer is stored", is_kept=True)
    NO_CONTENT = Word("no_content", "status 204", "scans: `extract: {ocr: scans}` and the extra `ocr`")
    BAD_TEI = Word("bad_tei", "from `<TEI>` to `</TEI>` not well-formed, or larger than 12 MB", "inspect the PDF")
    BAD_ANSWER = Word("bad_answer", "as `bad_tei`, for an extractor that does not write TEI", "inspect the PDF")
    BAD_INPUT_DATA = Word("failed:BAD_INPUT_DATA", "status 500 with this code", _REFUSED_BY_GROBID)
    NO_BLOCKS = Word("failed:NO_BLOCKS", "status 500 with this code", _REFUSED_BY_GROBID)
    TOO_MANY_BLOCKS = Word("failed:TOO_MANY_BLOCKS", "status 500 with this code", _REFUSED_BY_GROBID)
    TOO_MANY_TOKENS = Word("failed:TOO_MANY_TOKENS", "status 500 with this code", _REFUSED_BY_GROBID)
    PDFALTO_CONVERSION_FAILURE = Word(
        "failed:PDFALTO_CONVERSION_FAILURE", "status 500 with this code", _REFUSED_BY_GROBID
    )
    NOT_CONVERTED = Word(
        "failed:NOT_CONVERTED", "an extractor of another package cannot convert the PDF", "read the server's log"
    )
    BUSY = Word(
        "gave_up:busy",
        "status 503 until the deadline",
        "add servers, or send less: pool `grobid`, `resources.in_flight`",
    )
    TIMEOUT = Word("gave_up:timeout", "3 times no answer in time", "read the server's log; some PDFs always time out")
    CONNECTION = Word(
        "gave_up:connection",
        "3 answers were missing, cut, or of another program",
        "start the server; check its address",
    )
    LAKE = Word("gave_up:lake", "the PDF could not be read from the lake 3 times", "read the log: it has the cause")

    @property
    def final(self) -> bool:
        """True if the outcome is permanent, so that the PDF is not sent again."""
        return not self.startswith("gave_up:")


class PdfParseOutcome(Outcome):
    """The outcome of a PDF's parse, unless the answer is refused or missing."""

    OK = Word("ok", "parsed", is_kept=True)


class FilterOutcome(Outcome):
    """The outcome of a paper; the first matching condition decides (S2ORC §2.5)."""

    SUPPRESSED = Word("suppressed", "listed in `suppress.jsonl` (takedowns)")
    NO_TITLE = Word(
        "no_title",
        "no record has a title",
        "deliver metadata, or a line in `records.jsonl`",
        paper=PaperRow("No title", 20_400),  # GORC Table 1 has a digit more than S2ORC Table 2
    )
    NO_AUTHORS = Word(
        "no_authors",
        "no record has authors",
        "deliver metadata, or a line in `records.jsonl`",
        paper=PaperRow("No authors", 331_100),
    )
    SHORT_TEXT = Word(
        "short_text",
        "abstract and body have fewer than `filter.min_characters` (100)",
        paper=PaperRow("Too few characters of text", 80.0 * _M),
    )
    NOT_ENGLISH = Word(
        "not_english",
        "P(en) is below `filter.min_english` (0.9)",
        "many: find the source or extractor that changed",
        paper=PaperRow("Not English", 15.2 * _M),
    )
    KEPT = Word("kept", "otherwise", is_kept=True, paper=PaperRow("Kept", S2ORC_PAPERS))


class LinkReason(Outcome):
    """The reason of a link, or `none`."""

    ID = Word("id", "the entry has an identifier of the paper (§7.2)", is_kept=True)
    EXACT = Word("exact", "equal normalized titles", is_kept=True)
    FUZZY = Word("fuzzy", "similar titles", is_kept=True)
    PREFIX = Word("prefix", "the title without its subtitle", is_kept=True)
    LOCATOR = Word("locator", "journal, volume and page, without a title", is_kept=True)
    CONTAINED = Word("contained", "the entry's text contains the title", is_kept=True)
    NONE = Word("none", "no paper matches", label="unlinked")


class LinkWarning(Outcome):
    """The reason for which a link is, by default, not counted as a citation (SPEC §7.11)."""

    NUMERAL = Word("numeral", "the titles differ in a number (SPEC §7.10)")
    TIE = Word(
        "tie",
        "another candidate agrees equally (SPEC §7.8)",
    )
    CONTRADICTION = Word("contradiction", "years, surnames, journals, volumes or pages contradict (SPEC §7.9)")


class CleanOutcome(Outcome):
    """The outcome of a document: kept, or the first rule that drops it (SPEC §8)."""

    KEPT = Word("kept", "otherwise", is_kept=True)
    RETRACTED = Word("retracted", "the paper is retracted, and the spec sets `clean.editorial: exclude`")
    WITHDRAWN = Word("withdrawn", "the paper is withdrawn, and the spec sets `clean.editorial: exclude`")
    NO_PARSE = Word("no_parse", "`s2orc`: no parse")
    CLOSED = Word("closed", "`s2orc`: no open full text", "deliver or declare evidence of open access")
    NO_TITLE = Word("no_title", "`s2orc`: missing or empty")
    NO_ABSTRACT = Word("no_abstract", "missing or empty")
    NOT_ENGLISH = Word("not_english", "`s2orc`: not English")
    SHORT = Word("short", "`s2orc`: < 500 words")
    LONG = Word("long", "recipe-2024: 50,000 words or more")
    NO_YEAR = Word("no_year", "no year")
    BEFORE_MIN_YEAR = Word("before_min_year", "year before `clean.min_year` (S2 V2 card: 1970)")
    FEW_PARAGRAPHS = Word("few_paragraphs", "`s2orc`: < 5 units after §8.8")
    BAD_TOP_WORD = Word(
        "bad_top_word",
        "`s2orc`: top word not all `isalpha()`, or ≥ 7.5% of the words; `s2ag`: top word of title + abstract not ≥ 2 letters "
        "only; `a` passes if the second word is",
    )
    ABSTRACT_NOT_ENGLISH = Word("abstract_not_english", "`s2ag`: not English")
    TITLE_NOT_ENGLISH = Word("title_not_english", "`s2ag`: not English and log probability ≤ −20")
    ABSTRACT_IMPROBABLE = Word("abstract_improbable", "`s2ag`: log probability ≤ −20")
    ABSTRACT_SHORT = Word("abstract_short", "`s2ag`: < 50 words")
    ABSTRACT_LONG = Word("abstract_long", "`s2ag`: > 1,000 words")
    TITLE_SHORT = Word("title_short", "recipe-2024: fewer than 3 words")
    SPACED_LETTERS = Word("spaced_letters", "recipe-2024: runs of single letters separated by spaces in the abstract")


class Split(Outcome):
    """The split of a kept document."""

    TRAIN = Word("train", "by publication date", is_kept=True)
    VALID = Word("valid", "by publication date", is_kept=True)
    LATE = Word("held_back:late", "after the last day of valid (`split.valid_until`, or `as_of` for a rolling split)")
    UNDATED = Word("held_back:undated", "the date is not precise enough to decide (§9.4)")
    DUPLICATE = Word("held_back:duplicate", "another document has the same text (§9.6)")
    NEAR_DUPLICATE = Word(
        "held_back:near_duplicate",
        "train has its title and first author, or a similar text (§9.7); or any text is, with `split.near_duplicates: hold_back`",
    )
