"""Build the pretraining corpus for language models and its WordPiece vocabulary (S2ORC §5)."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

import pyarrow as pa
from pydantic import NonNegativeInt, PositiveInt

from s2corpus_datasets import sentences
from s2corpus_datasets.citations import remove_formulas
from s2corpus_datasets.job import Dataset, Job
from s2corpus_datasets.outputs import Outputs
from s2corpus_datasets.protocol import DatasetCheck, DatasetTable, Row, Share, StepResult, TextParams, hash_number
from s2corpus_datasets.sentences import count_tokens, heading_end, is_prose, sentence_spans
from s2corpus_datasets.source import SnapshotPaper
from s2corpus_reader.bounded import read_bytes
from s2corpus_reader.folder import Folder
from s2orc_parse.errors import UserError

_BIOMEDICAL = {"Medicine", "Biology"}
_MAX_ALPHABET = 1_000
"""maximum number of distinct characters in the vocabulary (BERT's limit)"""
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


class PretrainingPaperOutcome(StrEnum):
    """The outcome of a paper."""

    KEPT = "kept"
    NO_TEXT = "no_open_full_text"
    NOTHING_LEFT = "no_paragraph_left"


class PretrainingParagraphOutcome(StrEnum):
    """The outcome of a paragraph: kept, or the first filter that rejects it."""

    KEPT = "kept"
    CAPTION = "caption"
    SHORT = "too_short"
    SYMBOLS = "too_many_symbols"
    DIGITS = "too_many_digits"
    SINGLE = "too_many_single_characters"
    LONG_WORD = "too_long_a_word"
    REPEATS = "repeats_itself"


class PretrainingParams(TextParams):
    """Parameters of the pretraining corpus.

    S2ORC §5 lists heuristic filters of ill-formed paragraphs, but not their thresholds. These thresholds are ours.
    """

    abstracts: bool = True
    """whether a paper's text begins with its abstract"""
    min_words: NonNegativeInt = 5
    """minimum number of words in a paragraph; shorter paragraphs are mostly headings, labels and fragments of formulas"""
    max_symbol_share: Share = 0.25
    """maximum share of characters other than letters, digits, white space and common punctuation ("too many symbols", S2ORC §5)"""
    max_digit_share: Share = 0.3
    """maximum share of digits among the characters; a higher share indicates a table that was read as text"""
    max_single_share: Share = 0.4
    """maximum share of one-character words; a higher share indicates formulas or spaced letters"""
    max_word_chars: PositiveInt = 80
    """maximum number of characters in a word; longer words are joined lines, sequences and URLs"""
    max_repeat_share: Share = 0.5
    """maximum share of the most frequent word among the words"""
    vocabulary_size: PositiveInt = 31_000
    """number of entries in the cased WordPiece vocabulary (S2ORC §5: 31k)"""
    vocabulary_sample: Share = 0.15
    """share of the papers that the vocabulary is learned from (S2ORC §5: 15 %)"""
    vocabulary_min_count: PositiveInt = 2
    """minimum number of occurrences of a piece"""
    compare_vocabulary: str | None = None
    """URI of another vocabulary (`vocab.txt`, one entry per line) to compare with by the Jaccard index"""
    seed: int = 2020
    """seed of the sample"""


class Pretraining(Dataset):
    """The pretraining dataset."""

    version = f"3.{sentences.VERSION}"
    description = (
        "Text of open papers for pretraining: one sentence per line, an empty line between papers, without figures, tables, notes and "
        "ill-formed paragraphs; with a cased WordPiece vocabulary (S2ORC §5)."
    )
    params = PretrainingParams
    tables = (DatasetTable("text", pa.schema([("text", pa.string())]), {"train": "text/*.txt.gz"}),)
    schema = pa.schema([
        ("paper_id", pa.string()), ("field", pa.string()), ("sampled", pa.bool_()), ("tokens", pa.int64()),
        ("sentences", pa.int64()), ("text", pa.string()),
    ])  # fmt: skip
    required_modules = ("tokenizers",)
    published_metrics: Mapping[str, float] = {
        "tokens": 16.4e9, "papers": 8.1e6, "tokens_a_paper": 16.4e9 / 8.1e6, "papers_share.biomedicine": 0.427,
        "papers_share.computer_science": 0.072, "vocabulary": 31_000, "vocabulary_jaccard": 0.536,
    }  # fmt: skip
    """figures of §5; the other vocabulary is SciBERT's"""

    def rows(self, params: PretrainingParams, paper: SnapshotPaper, result: StepResult) -> Iterator[Row]:
        """Yield one row with the remaining lines of a paper, or nothing."""
        result.add_input("papers")
        full_text = paper.full_text(params.kinds)
        if full_text is None:
            result.add_outcome("papers", PretrainingPaperOutcome.NO_TEXT)
            return
        _, parse = full_text
        texts = [paper.metadata["abstract"]] if params.abstracts and paper.metadata["abstract"] else []
        texts += [paragraph["text"] for paragraph in parse["body_text"]]
        lines: list[str] = []
        for text in texts:
            text = " ".join(text.split())
            outcome = classify_paragraph(params, text)
            result.add_input("paragraphs")
            result.add_outcome("paragraphs", outcome)
            if outcome is PretrainingParagraphOutcome.KEPT:
                lines += _list_lines(text)
        if not lines:
            result.add_outcome("papers", PretrainingPaperOutcome.NOTHING_LEFT)
            return
        result.add_outcome("papers", PretrainingPaperOutcome.KEPT)
        yield {
            "paper_id": paper.id,
            "field": (paper.fields or ["unknown"])[0],
            "sampled": hash_number(f"{params.seed}:{paper.id}") / 2**64 < params.vocabulary_sample,
            "tokens": sum(map(count_tokens, lines)),
            "sentences": len(lines),
            "text": "\n".join(lines),
        }

    def write(self, job: Job, shard: int, choice: Mapping[str, Any], out: Outputs) -> None:
        """Write `text/<nn>.txt.gz`: one sentence per line, an empty line after each paper."""
        tally = out.result.tally
        with out.open_lines(f"text/{shard:02d}.txt.gz") as file:
            for row in job.rows([shard], batch_rows=16):
                for line in row["text"].split("\n"):
                    file.write(f"{line}\n".encode())  # the file counts calls as rows
                file.write(b"\n")
                tally["papers"] += 1
                tally["sentences"] += row["sentences"]
                tally[f"tokens.{row['field']}"] += row["tokens"]
                tally[f"papers.{row['field']}"] += 1

    def finish(self, job: Job, choice: Mapping[str, Any], result: StepResult, out: Outputs) -> dict[str, float]:
        """Write `vocab.txt`; return the figures of S2ORC §5."""
        params: PretrainingParams = job.params
        vocabulary = learn_vocabulary(params, lambda: _read_sampled_lines(job))
        out.write_bytes("vocab.txt", "".join(f"{entry}\n" for entry in vocabulary).encode())
        tally = result.tally
        tokens_by_field = {name.removeprefix("tokens."): n for name, n in tally.items() if name.startswith("tokens.")}
        total, papers = sum(tokens_by_field.values()), tally["papers"]
        metrics = {
            "tokens": float(total),
            "papers": float(papers),
            "sentences": float(tally["sentences"]),
            "tokens_a_paper": total / papers if papers else 0.0,
            **{f"tokens.{name}": float(n) for name, n in sorted(tokens_by_field.items())},
            "papers_share.biomedicine": _share(tally, _BIOMEDICAL),
            "papers_share.computer_science": _share(tally, {"Computer Science"}),
            "vocabulary": float(len(vocabulary)),
        }
        if params.compare_vocabulary:
            other = _fetch_vocabulary(params.compare_vocabulary)
            metrics["vocabulary_jaccard"] = len(other.intersection(vocabulary)) / len(other.union(vocabulary))
        return metrics

    def checks(self, job: Job, result: StepResult, metrics: Mapping[str, float]) -> list[DatasetCheck]:
        """Check that every kept paper is written, and that the vocabulary has the requested size."""
        kept = result.funnel["papers", PretrainingPaperOutcome.KEPT]
        short = job.params.vocabulary_size - int(metrics["vocabulary"])
        return [
            DatasetCheck(
                "papers_written",
                abs(kept - int(metrics["papers"])),
                "papers are missing from the text, or written twice",
            ),
            DatasetCheck(
                "vocabulary_full",
                max(short, 0),
                "entries are missing: the sample is too small for this vocabulary size",
                blocks=False,
            ),
        ]


def classify_paragraph(params: PretrainingParams, text: str) -> PretrainingParagraphOutcome:
    """Return the first filter that rejects a paragraph, or `KEPT`. `text` has single spaces between words."""
    words = text.split()
    if _CAPTION.match(text):
        return PretrainingParagraphOutcome.CAPTION
    if len(words) < params.min_words:
        return PretrainingParagraphOutcome.SHORT
    if sum(not (c.isalnum() or c.isspace() or c in _COMMON_PUNCTUATION) for c in text) > params.max_symbol_share * len(
        text
    ):
        return PretrainingParagraphOutcome.SYMBOLS
    if sum(map(str.isdigit, text)) > params.max_digit_share * len(text):
        return PretrainingParagraphOutcome.DIGITS
    if sum(len(word) == 1 for word in words) > params.max_single_share * len(words):
        return PretrainingParagraphOutcome.SINGLE
    if max(map(len, words)) > params.max_word_chars:
        return PretrainingParagraphOutcome.LONG_WORD
    if max(map(words.count, set(words))) > params.max_repeat_share * len(words):
        return PretrainingParagraphOutcome.REPEATS
    return PretrainingParagraphOutcome.KEPT


_COMMON_PUNCTUATION = frozenset(".,;:!?'\"()[]-–—’‘“”%/")
_CAPTION = re.compile(r"(?:Figure|Fig\.?|Table|Tab\.?|Scheme|Box|Algorithm) ?[A-Z]?[0-9]+[A-Za-z]?[.:|] ")


def _list_lines(text: str) -> list[str]:
    """Return the sentences of a paragraph; omit display formulas and a run-in heading."""
    heading = heading_end(text)
    found = (remove_formulas(text[start:end]) for start, end in sentence_spans(text) if start >= heading)
    return [line for line in found if is_prose(line)]


def learn_vocabulary(params: PretrainingParams, texts: Callable[[], Iterator[str]]) -> list[str]:
    """Return a cased WordPiece vocabulary of some texts, ordered by id: BERT's special tokens, then single characters.

    The trainer would assign ids to characters in the order of a hash table, and it breaks ties between pieces by these ids. Therefore
    all characters get their ids before training, so that every run returns the same vocabulary. `texts` is called twice.
    """
    from tokenizers import BertWordPieceTokenizer

    characters: Counter[str] = Counter()
    for text in texts():
        characters.update(text)
    ranked = sorted((c for c in characters if not c.isspace()), key=lambda c: (-characters[c], c))[:_MAX_ALPHABET]
    alphabet = sorted(ranked)
    tokenizer = BertWordPieceTokenizer(lowercase=False, strip_accents=False)
    tokenizer.train_from_iterator(
        texts(),
        vocab_size=params.vocabulary_size,
        min_frequency=params.vocabulary_min_count,
        limit_alphabet=_MAX_ALPHABET,
        initial_alphabet=alphabet,
        special_tokens=[*SPECIAL, *alphabet, *(f"##{c}" for c in alphabet if _is_word_internal(c))],
        show_progress=False,
    )
    entries: dict[str, int] = json.loads(tokenizer.to_str())["model"]["vocab"]
    return sorted(entries, key=entries.__getitem__)


def _is_word_internal(character: str) -> bool:
    """Return whether BERT's pre-tokenizer does not split words at a character: not punctuation, not Chinese."""
    if character.isascii():
        return character.isalnum()
    return not unicodedata.category(character).startswith("P") and "CJK UNIFIED" not in unicodedata.name(character, "")


def _fetch_vocabulary(uri: str) -> set[str]:
    """Return the entries of another vocabulary.

    Raises:
        UserError: the file is missing or not UTF-8.
    """
    folder, _, name = uri.rpartition("/")
    try:
        return set(read_bytes(Folder(folder or "."), name).decode("utf-8").split("\n")) - {""}
    except (FileNotFoundError, ValueError) as error:
        raise UserError(f"{uri}: not a vocabulary: expected UTF-8 with one entry per line: {error}") from None


def _read_sampled_lines(job: Job) -> Iterator[str]:
    for row in job.rows(columns=["sampled", "text"], batch_rows=16):
        if row["sampled"]:
            yield from row["text"].split("\n")


def _share(tally: Mapping[str, int], fields: set[str]) -> float:
    """Return the share of papers with one of these primary fields."""
    papers = tally["papers"]
    return sum(tally.get(f"papers.{name}", 0) for name in fields) / papers if papers else 0.0


DATASET = Pretraining()
