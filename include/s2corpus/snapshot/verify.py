"""Verification of a snapshot: every file against the manifest, every line against the format."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from typing import TYPE_CHECKING

import orjson
import pyarrow as pa

from s2corpus.errors import UserError
from s2corpus.snapshot import keys
from s2corpus.snapshot.agreement import SHOWN, Agreement
from s2corpus.snapshot.crossing import MAX_KEYS, Crossing
from s2corpus.snapshot.described import diff_against, identity_fault, made_again, same_code, same_croissant
from s2corpus.snapshot.manifest import FORMAT, rule_fault
from s2corpus.snapshot.presence import groups, number_of, presence
from s2corpus.snapshot.read_files import UNEXPECTED, Fault, Snapshot, file_faults, parquet
from s2corpus.snapshot.reader import at
from s2corpus.snapshot.repeats import Repeats
from s2corpus.snapshot.rows import INDEX
from s2corpus.storage.lake import NotAFile
from s2corpus_reader.bounded import TooLarge, read_bytes, read_object
from s2corpus_reader.files import File, list_files
from s2corpus_reader.parquet import read_table

if TYPE_CHECKING:
    from s2corpus.storage.lake import Lake


def verify(
    snapshot: Lake,
    progress: Callable[[str], None] = lambda path: None,
    *,
    published: Collection[str] = (),
    against: Lake | None = None,
) -> Iterator[Fault]:
    """What is wrong with the snapshot whose folder is opened as `snapshot`; nothing if it is whole.

    `published` are the manifest's SHA-256s that its publication noted: with them no file can be changed unseen, since the manifest has
    every file's checksum. Without it, what is found is what contradicts itself. `against` is its parent, for diff.json.

    Raises:
        UserError: there is no manifest of a format this version knows.
    """
    try:
        data = read_bytes(snapshot, "manifest.json")
        if published and set(published) != {hashlib.sha256(data).hexdigest()}:
            yield Fault("manifest.json", "it is not the manifest that was published: its SHA-256 is another")
        manifest = orjson.loads(data)
    except NotAFile:
        raise
    except FileNotFoundError:
        raise UserError(f"{snapshot.root}: no manifest.json here: give the folder of a snapshot") from None
    except orjson.JSONDecodeError as error:
        yield Fault("manifest.json", f"no JSON: {error}")
        return
    except TooLarge as error:
        yield Fault("manifest.json", str(error))
        return
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        given = manifest.get("format") if isinstance(manifest, dict) else type(manifest).__name__
        raise UserError(f"{snapshot.root}: manifest of format {given!r}; this version reads {FORMAT!r}")
    try:
        listed = {file["path"]: File(**file) for file in manifest["files"]}
        if len(listed) < len(manifest["files"]):
            yield Fault("manifest.json", "it lists a file twice")
        else:
            list_files(manifest)
        state = Snapshot(
            snapshot,
            manifest,
            listed,
            Agreement(manifest["rules"], manifest["as_of"]),
            Repeats(manifest["rules"]),
            Crossing(manifest["rules"]),
        )
        if wrong := _form_fault(state):
            yield Fault("manifest.json", f"not of its form: {wrong}")
            return
        if wrong := identity_fault(manifest):
            yield Fault("manifest.json", wrong)
    except UNEXPECTED as error:
        yield Fault("manifest.json", f"not of its form: {type(error).__name__} {error}")
        return
    yield from presence(state)
    table = None
    if "index.parquet" in state.files:
        table = yield from _index(state)
    if "duplicates.parquet" in state.files:
        try:
            for what in state.repeats.add(parquet(state, "duplicates.parquet")):
                yield Fault("duplicates.parquet", what)
        except UNEXPECTED as error:
            yield Fault("duplicates.parquet", f"cannot be read: {type(error).__name__} {error}")
    # metadata first: every parse and link must belong to a paper that it has; then the files of the same papers together,
    # lines before what repeats them
    together = groups(state)
    group = 0
    for _, of, _, path in sorted(
        (not p.startswith("corpus/metadata/"), number_of(p) % together, p.endswith(".parquet"), p) for p in state.files
    ):
        progress(path)
        if of != group:
            state.agreement.next_group()
            group = of
        if snapshot.size(path) is not None:
            try:
                yield from file_faults(state, state.files[path])
            except UNEXPECTED as error:
                yield Fault(path, f"cannot be read: {type(error).__name__} {error}")
    for missed in sorted(set(state.index) - state.seen)[:SHOWN]:
        yield Fault("index.parquet", f"document {missed} is in no file")
    yield from _agreement(state)
    if against is not None and table is not None:
        yield from _against(state, table, against)


def _form_fault(state: Snapshot) -> str | None:
    """What of a manifest's own words is of another form; None if nothing is."""
    for rule, form in (
        ("export.files", int),
        ("clean.profile", str),
        ("clean.sets", list),
        ("split.shingle_words", int),
        ("split.minhash_bands", int),
        ("split.minhash_rows", int),
        ("split.max_group", int),
        ("split.min_jaccard", float),
        ("split.near_duplicates", str),
        ("link.count_warnings", list),
    ):
        if not isinstance(value := state.rules[rule], form) or value == 0:
            return f"{rule} is {value!r}"
    if not isinstance(limit := state.rules.get("export.shard_bytes"), int | None):
        return f"export.shard_bytes is {limit!r}"
    if not 0 < state.rules["split.minhash_bands"] * state.rules["split.minhash_rows"] <= MAX_KEYS:
        return f"split.minhash_bands and split.minhash_rows ask for more than {MAX_KEYS} hash functions, or for none"
    return rule_fault(state.rules)


def _index(state: Snapshot) -> Generator[Fault, None, pa.Table | None]:
    try:
        table = parquet(state, "index.parquet")
        if not table.schema.equals(INDEX):
            yield Fault(
                "index.parquet", f"its columns are {table.schema.names}; expected {INDEX.names} with their types"
            )
            return None
        table.validate(full=True)
        state.agreement.published.add(table)
        state.said.add_index(table.to_pylist())
        state.said.add_keys((key, row["id"]) for row in table.to_pylist() for key in keys.of_document(row))
        for what in state.agreement.add_index(table.to_pylist()):
            yield Fault("index.parquet", what)
    except UNEXPECTED as error:
        yield Fault("index.parquet", f"cannot be read: {type(error).__name__} {error}")
        return None
    names = ("id", "file", "line", "set", "split", "words", "oa_evidence")
    for id_, file, line, set_, split, words, evidence in zip(*(table[name].to_pylist() for name in names), strict=True):
        if id_ in state.index:
            yield Fault("index.parquet", f"document {id_} is there twice")
        state.index[id_], state.words[id_] = (file, line), words
        if not file.startswith(f"v2/{set_}/{split}/"):
            yield Fault("index.parquet", f"document {id_} is of {set_} {split} there, but in {file}")
        if set_ == "s2orc" and not evidence:
            yield Fault("index.parquet", f"document {id_} is a full text, and nothing says why it is open")
    return table


def _agreement(state: Snapshot) -> Iterator[Fault]:
    """What must agree between files: documents with papers, aliases with clusters, statistics with what is there."""
    if state.papers:
        for unknown in sorted(state.seen - state.papers)[:SHOWN]:
            yield Fault("index.parquet", f"document {unknown} is a paper that corpus/metadata has not")
    if state.said.keys and any(path.startswith("keys/") for path in state.files):
        yield Fault("keys", "its keys are not those of the papers in tables/papers and the documents in index.parquet")
    if state.said.rights and any(path.startswith("tables/rights/") for path in state.files):
        yield Fault("tables/rights", "its rows are not the abstracts in corpus/metadata and the parses in corpus/")
    yield from (Fault(path, what) for path, what in state.agreement.graph())
    try:
        yield from _identities(state)
    except UNEXPECTED as error:
        yield Fault("aliases.parquet", f"it or clusters.parquet cannot be read: {type(error).__name__} {error}")
    try:
        stats = read_object(state.lake, "stats.json")
        for set_ in sorted({*stats["sets"], *(set_ for set_, _, _ in state.counted)}):
            for split in ("train", "valid"):
                for what in ("documents", "words"):
                    said, found = (
                        stats["sets"].get(set_, {}).get(split, {}).get(what, 0),
                        state.counted[set_, split, what],
                    )
                    if said != found:
                        yield Fault("stats.json", f"{said} {what} of {set_} {split}; the files have {found}")
        yield from (Fault("stats.json", what) for what in state.agreement.statistics(stats))
        placed = {id_: (path.split("/")[1], path.split("/")[2]) for id_, (path, _) in state.index.items()}
        yield from (Fault("duplicates.parquet", what) for what in state.repeats.faults(placed, stats))
        yield from (Fault("duplicates.parquet", what) for what in state.crossing.faults(lambda ids: _texts(state, ids)))
    except UNEXPECTED as error:
        yield Fault("stats.json", f"cannot be read: {type(error).__name__} {error}")
        return
    try:
        croissant = read_object(state.lake, "croissant.json")
        if not same_croissant(croissant, state.manifest, stats):
            yield Fault("croissant.json", "its files or licences are not those of manifest and statistics")
        if same_code(state.manifest):
            for path, content in made_again(state.manifest, stats, croissant["description"]):
                if path in state.files and read_bytes(state.lake, path) != content:
                    yield Fault(path, "it is not what follows from manifest and statistics")
    except UNEXPECTED as error:
        yield Fault("croissant.json", f"cannot be compared: {type(error).__name__} {error}")


def _texts(state: Snapshot, ids: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Some documents with their texts."""
    places = [state.index[id_] for id_ in ids if id_ in state.index]
    for value in at(state.lake, [{"file": path, "line": line} for path, line in places]):
        yield value["id"], value["text"]


def _identities(state: Snapshot) -> Iterator[Fault]:
    """What clusters, aliases and metadata say of one another."""
    clusters = parquet(state, "clusters.parquet")
    papers = set(clusters["paper_id"].to_pylist())
    if len(set(clusters["record_id"].to_pylist())) < clusters.num_rows:
        yield Fault("clusters.parquet", "a record is in two papers")
    for unknown in sorted(state.papers - papers)[:SHOWN]:
        yield Fault("clusters.parquet", f"no record is of paper {unknown}, which corpus/metadata has")
    known: set[str] = set()
    for row in parquet(state, "aliases.parquet").to_pylist():
        if row["paper_id"] not in papers:
            yield Fault("aliases.parquet", f"{row['alias']} leads to {row['paper_id']}, which is not a paper")
        if row["alias"] in papers or row["alias"] in known:
            yield Fault("aliases.parquet", f"{row['alias']} is a paper, or leads to two")
        known.add(row["alias"])


def _against(state: Snapshot, index: pa.Table, parent: Lake) -> Iterator[Fault]:
    """What diff.json says otherwise than the two indexes."""
    try:
        id_ = read_object(parent, "manifest.json")["snapshot"]
        if id_ != state.manifest["parent"]:
            yield Fault("manifest.json", f"its parent is {state.manifest['parent']}, not {id_}")
            return
        before = read_table(parent, "index.parquet")
        if read_object(state.lake, "diff.json") != diff_against(index, before, id_):
            yield Fault("diff.json", f"it is not what changed since {id_}")
    except UNEXPECTED as error:
        yield Fault("diff.json", f"cannot be compared: {type(error).__name__} {error}")
