"""Count hard-to-read phrasing in Python and Markdown files.

    python devtools/english.py PATH...    print the worst files and a total
    python devtools/english.py --check    compare each package with its limit (part of `make lint`)

Lower a limit when a package improves, and never raise it. Each occurrence of one of six kinds is a hit:
  word     a word or phrase of WORDS in a docstring, comment, string of two words or more, or Markdown line
  inverted a phrase of INVERTED (noun clauses in place of nouns, trailing qualifiers, fronted objects)
  verbless a function's docstring that does not begin with a verb (imperative or third person); properties and tests are exempt
  long     a sentence of more than 25 words in a docstring, comment or Markdown paragraph
  name     a function named by a bare participle or preposition (told, held, of, by_x, x_of), or with a word of NAME_WORDS
  test     a test's name of more than nine words
The counts are only an indicator: a clear sentence may contain a listed word, and a file without hits may still be hard to read.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import sys
import tokenize
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

WORDS = {
    "tell, told": r"(?:told|tells?|telling)(?! (?:apart|the difference))",
    "say, says, said": r"says?|said|saying",
    "beside": r"beside",
    "stand, stands, stood": r"stands?(?! ?alone| ?for\b)|stood|stands for",
    "lie, lies, lay": r"lies?|lay",
    "hold, holds, held": r"holds?|held",
    "nobody, no one's": r"nobody(?:'s)?",
    "kept, keep": r"kept|keeps?",
    "asked, ask": r"asked|asks?",
    "wanted, sought": r"wanted|sought",
    "known, knows": r"is known|are known|known of|knows?",
    "go on, goes on": r"go(?:es)? on|went on|gone on",
    "come, came, went": r"came|comes?|went|goes",
    "stay, stays": r"stays?|stayed",
    "look at": r"look(?:s|ed)? at",
    "pass by, let go": r"pass(?:es|ed|ing)? by|let go|lets? through",
    "one, ones": r"ones",
    "so many, as many": r"(?:so|as|how) many(?! as\b)",
    "but one, none": r"but one|all but|none (?:is|are|has|have|where)|is none|are none",
    "anew, again": r"anew",
    "at once, in turn": r"at once|in turns?",
    "whole": r"whole",
    "of its own": r"(?:of|on) (?:its|their|our|his) own",
    "likewise, else": r"likewise|; else|, else",
    "a line a …": r"(?:row|line|file|task|part|key|node|value|day|paper|entry) an? (?:\w+)(?=[,;:.)]|$)",
}
INVERTED = {
    "what is …": r"\bwhat (?:is|was|are|were|it|they|has|have|had|there|must|may|can|could|cannot|came|comes|a|the|each|this|no|else|makes|stays|lies|decides|does|follows)\b",
    "that is there": r"\b(?:is|are|was|were) (?:not )?(?:yet )?there\b(?! (?:a|an|no|any|is|are))",
    "where there is": r"\b(?:where|if) there (?:is|are) (?:none|one|any|no)\b",
    "… has it": r"\bas .{3,30} (?:has|have|had) (?:it|them)\b",
    "Of …,": r"(?:^|[.;:] )Of (?:a|an|the|what|these|those|several|some|all|two|it|each|its|their)\b",
    "of which, of whom": r"\bof (?:which|whom)\b|\bto whom\b|\bthereof\b|\bthereby\b|\btherein\b",
    "those of, that of": r"\b(?:those|that) of\b|\bthose (?:that|which|who)\b",
    "… of it": r"\bof (?:it|them|these)\b(?=[,;:.]|$)",
    "nor": r"\bnor\b",
    "whose": r"\bwhose\b",
    "whoever, whatever": r"\b(?:whoever|whatever|whichever|wherever)\b",
    "; None/null/0 where": r"(?:None|null|0|-1|empty|false) (?:where|if) (?:it|there|they|none|nothing)\b",
}
NAME_WORDS = {
    "told",
    "twins",
    "foes",
    "passing",
    "crowded",
    "beside",
    "standing",
    "standings",
    "fate",
    "fates",
    "heirs",
    "sought",
    "wanted",
    "wordy",
    "doubtful",
    "strangers",
    "unsettled",
    "outcast",
    "little",
}
PARTICIPLES = {
    "told",
    "taken",
    "found",
    "kept",
    "held",
    "made",
    "known",
    "given",
    "seen",
    "sought",
    "said",
    "asked",
    "written",
    "chosen",
    "bound",
    "drawn",
    "worn",
    "left",
    "put",
    "set_aside",
    "read_again",
    "sent",
    "met",
    "lost",
    "won",
    "cut_off",
    "thrown",
}
VERBS = set(
    """accept add adjust align allow analyse announce answer append apply approve ask assemble assert assign attach attempt await
begin bind block build bring cache calculate call cancel capture cast change check choose classify clean clear close cluster collect
combine commit compare compile complete compose compress compute configure confirm connect consume contain convert copy correct count
create cut declare decide decode decompress deduplicate define delete deliver demote derive describe detect determine digest disable
discard display divide do download drop dump emit enable encode end ensure enter enumerate escape estimate evaluate examine exclude
execute exit expand explain expire export extend extract fail fetch fill filter find finish fit fix flatten flush follow force form
format forward free gather generate get give go group guess handle hash help hide identify ignore implement import include increment
index infer inform initialise initialize insert inspect install instantiate intersect invalidate invoke issue iterate join judge keep
kill label launch leave let lift limit link list load locate lock log look lower make manage map mark mask match measure merge migrate
mint mirror mix modify monitor move mutate name normalise normalize note notify number obtain omit open order overwrite pad parse
partition pass patch pause perform permit pick plan point poll pop populate predict prepare prevent print process produce project
promote propose protect provide prune publish pull push put query queue quote raise rank rate read rebuild receive recompute record
recover reduce refresh refuse register reject release remove rename render reorder repair repeat replace report represent request
require reserve reset resolve respond restart restore restrict resume retrieve retry return reverse revert rewrite roll rotate round
route run sample sanitise sanitize save scale scan schedule score search select send serialise serialize serve set setup shorten show
shuffle shut sign signal skip slice snapshot sort spawn specify split stage start stop store stream strip submit subtract sum summarise
summarize supply support suppress swap switch sync tag take target terminate test toggle tokenise tokenize trace track train transfer
transform translate traverse trigger trim truncate try turn unite unload unlock unpack unzip update upload upsert use validate verify
wait walk warm warn watch weigh wipe work wrap write yank yield zip accumulate adapt aggregate annotate assess authenticate authorise
broadcast bucket calibrate compact crawl delegate dispatch encapsulate override persist reindex retain simulate tell undo uninstall
""".split()
)
SENTENCE = re.compile(r"(?<=[.!?;])\s+(?=[A-Z`\"'(])|\n\s*\n|\n\s*[-*|]\s")
LONG = 25
PROSE: Counter[str] = Counter()
"""Number of words of prose and of function docstrings in the files read so far.

These denominators do not depend on the amount of documentation in a project.
"""


def is_verb(word: str) -> bool:
    """Return whether a docstring's first word is a verb, in the imperative or the third person."""
    word = re.sub(r"[^a-z-]", "", word.lower())
    stems = {word, word.removesuffix("s"), word.removesuffix("es"), word.removesuffix("ies") + "y", word.split("-")[0]}
    return bool(stems & VERBS)


def scan_prose(text: str, hits: Counter[str], words: Counter[str]) -> None:
    """Count dialect words, inversions and long sentences in a piece of prose."""
    plain = re.sub(r"`[^`]*`|https?://\S+", "X", text)
    PROSE["words"] += len(re.findall(r"[A-Za-z][\w'-]*", plain))
    for kind, table in (("word", COMPILED_WORDS), ("inverted", COMPILED_INVERTED)):
        for label, pattern in table.items():
            if count := len(pattern.findall(plain)):
                hits[kind] += count
                words[label] += count
    for sentence in SENTENCE.split(plain):
        if len(re.findall(r"[A-Za-z][\w'-]*", sentence)) > LONG:
            hits["long"] += 1


def comments_of(source: str) -> str:
    """Return the comments of a file without directives. Adjacent lines form one paragraph."""
    found, last = [], -9
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            text = token.string.lstrip("#! ").strip()
            if re.match(r"(noqa|type:|fmt:|pragma|pylint|mypy|!/)", text):
                continue
            found.append((" " if token.start[0] == last + 1 else "\n\n") + text)
            last = token.start[0]
    return "".join(found)


def scan_python(source: str, hits: Counter[str], words: Counter[str]) -> None:
    """Count the hits of all kinds in a Python file."""
    tree = ast.parse(source)
    docs = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for item in body:
            if (
                isinstance(item, ast.Expr)
                and isinstance(item.value, ast.Constant)
                and isinstance(item.value.value, str)
            ):
                docs.add(id(item.value))
                scan_prose(item.value.value, hits, words)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            scan_function(node, hits)
    in_fstring = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(tree):
        text = None
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(v.value) if isinstance(v, ast.Constant) else "X" for v in node.values)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docs
            and id(node) not in in_fstring
        ):
            text = node.value
        if text and len(re.findall(r"[a-z]{2,} [a-z]{2,}", text)) >= 2 and "SELECT" not in text.upper()[:400]:
            scan_prose(text, hits, words)
    scan_prose(comments_of(source), hits, words)


def scan_function(node: ast.FunctionDef | ast.AsyncFunctionDef, hits: Counter[str]) -> None:
    """Count a function's name and the first word of its docstring."""
    name = node.name
    if name.startswith("test_"):
        hits["test"] += len(name.split("_")) - 1 > 9
        return
    if name.startswith("__"):
        return
    decorators = {getattr(d, "id", getattr(d, "attr", "")) for d in node.decorator_list}
    is_property = bool(decorators & {"property", "cached_property", "setter"})
    doc = ast.get_docstring(node)
    PROSE["docstrings"] += bool(doc and not is_property)
    if doc and not is_property and not is_verb(doc.split()[0]):
        hits["verbless"] += 1
    parts = name.strip("_").split("_")
    bare = len(parts) == 1 and (
        parts[0] in PARTICIPLES
        or (re.fullmatch(r"\w{3,}ed", parts[0]) and parts[0] not in {"need", "seed", "embed", "feed"})
    )
    led = parts[0] in {"of", "by", "to_whom", "around", "beside", "without", "within"} or (
        len(parts) > 1 and parts[-1] == "of"
    )
    if not is_property and (bare or led or set(parts) & NAME_WORDS):
        hits["name"] += 1


def scan_markdown(source: str, hits: Counter[str], words: Counter[str]) -> None:
    """Count dialect words, inversions and long sentences in a Markdown file outside its code blocks."""
    scan_prose(re.sub(r"```.*?```", "", source, flags=re.S), hits, words)


COMPILED_WORDS = {
    label: re.compile(rf"\b(?:{pattern})", re.I)
    if label.startswith("a line")
    else re.compile(rf"\b(?:{pattern})\b(?!\()", re.I)
    for label, pattern in WORDS.items()
}
COMPILED_INVERTED = {label: re.compile(pattern, re.M) for label, pattern in INVERTED.items()}


@dataclass(frozen=True)
class Count:
    """The hits of some files."""

    files: list[tuple[Path, int, Counter[str]]]
    """path, lines and hits by kind"""
    words: Counter[str]
    """hits by word"""
    prose: int
    """words of prose"""
    docstrings: int
    """functions with a docstring, without properties and tests"""

    @property
    def total(self) -> Counter[str]:
        """Hits by kind."""
        return sum((hits for _, _, hits in self.files), Counter())

    @property
    def lines(self) -> int:
        """Lines of all files."""
        return sum(lines for _, lines, _ in self.files)

    @property
    def per_thousand_lines(self) -> float:
        """Hits per 1,000 lines."""
        return 1000 * self.total.total() / max(self.lines, 1)

    @property
    def per_thousand_words(self) -> float:
        """Words and inversions per 1,000 words of prose."""
        return 1000 * (self.total["word"] + self.total["inverted"]) / max(self.prose, 1)

    @property
    def verbless(self) -> float:
        """Percentage of function docstrings that do not begin with a verb."""
        return 100 * self.total["verbless"] / max(self.docstrings, 1)


def count(paths: list[Path]) -> Count:
    """Count the hits in the Python and Markdown files of these folders, and in single files."""
    PROSE.clear()
    words: Counter[str] = Counter()
    found = sorted({file for path in paths for file in ([path] if path.is_file() else path.rglob("*"))})
    files = []
    for file in found:
        if file.suffix not in {".py", ".md"} or not file.is_file() or re.search(r"/(\.|__pycache__|build/)", str(file)):
            continue
        source, hits = file.read_text("utf-8", errors="replace"), Counter[str]()
        (scan_python if file.suffix == ".py" else scan_markdown)(source, hits, words)
        files.append((file, source.count("\n") + 1, hits))
    return Count(files, words, PROSE["words"], PROSE["docstrings"])


LIMITS: dict[str, float] = {
    "include/s2orc_parse": 9.7,
    "include/s2corpus_reader": 9.5,
    "include/s2corpus/pipeline": 8,
    "include/s2corpus/papers": 13,
    "include/s2corpus": 10.5,
    "include/pdf2tei": 7.5,
    "devtools": 19.8,
    "dags": 6.5,
    "plugins": 9,
    "tests": 12.4,
    "docs": 1,
    "README.md": 2,
    "CONTRIBUTING.md": 5,
    "CHANGELOG.md": 8,
}
"""Maximum hits per 1,000 lines of a folder or file; for Markdown, maximum words and inversions per 1,000 words."""


def check() -> int:
    """Print each folder that is above its limit. Return the exit status: 1 if a folder is above its limit, else 0."""
    status = 0
    for name, limit in LIMITS.items():
        counted = count([Path(name)])
        is_prose = all(file.suffix == ".md" for file, _, _ in counted.files)
        figure = counted.per_thousand_words if is_prose else counted.per_thousand_lines
        unit = "1,000 words" if is_prose else "1,000 lines"
        if figure > limit:
            status = 1
            print(f"{name}: {figure:.1f} hits per {unit}, the limit is {limit}: see python devtools/english.py {name}")
    return status


def main() -> int:
    """Print the worst files and the total, or check the limits; return the exit status."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("paths", nargs="*", type=Path)
    options.add_argument("--check", action="store_true", help="compare each package with its limit")
    options.add_argument("--worst", type=int, default=20, help="files to print (default: %(default)s)")
    options.add_argument("--words", action="store_true", help="also print the count of each word and inversion")
    given = options.parse_args()
    if given.check:
        return check()
    counted = count(given.paths)
    kinds = ("word", "inverted", "verbless", "long", "name", "test")
    for file, lines, hits in sorted(counted.files, key=lambda row: -row[2].total())[: given.worst]:
        by_kind = " ".join(f"{kind} {hits[kind]}" for kind in kinds if hits[kind])
        print(f"{hits.total():5d} hits {1000 * hits.total() / lines:6.0f}/kline  {file}  {by_kind}")
    if given.words:
        print(*(f"{n:6d} {label}" for label, n in counted.words.most_common()), sep="\n")
    print(
        f"{len(counted.files)} files, {counted.lines:,} lines: {counted.per_thousand_lines:.1f} hits per 1,000 lines, "
        f"{counted.per_thousand_words:.1f} words and inversions per 1,000 words of prose, "
        f"{counted.verbless:.0f} % of {counted.docstrings} function docstrings without a verb"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
