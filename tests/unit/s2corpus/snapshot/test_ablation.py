"""A variant is one spec with one rule of another; the table counts the changes of the rule in releases of the same inputs."""

from dataclasses import replace
from pathlib import Path

import pytest

from s2corpus.errors import UserError
from s2corpus.pipeline.run import Run
from s2corpus.snapshot.ablation import list_deviations, make_variants
from s2corpus.snapshot.manifest import list_rules
from s2corpus.spec import ReleaseSpec
from s2corpus.spec_files import load_spec, releases_folder
from s2corpus.storage.local_lake import LocalLake
from tests.commands import invoke
from tests.unit.s2corpus.snapshot.release import Paper, build, lay_out, papers

OURS, THEIRS = (
    ReleaseSpec.model_validate({"name": name, "export": {"files": 1}, **rules})
    for name, rules in (
        ("ours", {}),
        (
            "theirs",
            {"split": {"near_duplicates": "ignore"}, "clean": {"min_words": 400}, "filter": {"language": "cld2"}},
        ),
    )
)


def test_shipped_specs_have_one_variant_for_each_literal_rule() -> None:
    s2_v2, *literal = (
        load_spec(releases_folder() / f"{name}.yaml") for name in ("s2_v2", "s2orc_2020", "s2_v2_reproduction")
    )
    for spec in literal:
        variants = make_variants(s2_v2, spec)
        assert len({variant.name for variant in variants}) == len(variants) > 3
        for variant in variants:
            (deviation,) = list_deviations(list_rules(s2_v2), list_rules(variant))
            assert all(list_rules(spec)[name] == value for name, value in deviation.items())


def test_joint_rules_are_one_deviation() -> None:
    card = {"profile": "card", "unigrams": {"uri": "x", "sha256": "0" * 64}}
    spec = ReleaseSpec.model_validate(
        {"name": "card", "clean": card, "split": {"kind": "rolling", "train_before": "2022-11-01"}}
    )
    found = list_deviations(list_rules(OURS), list_rules(spec))
    assert [sorted(one) for one in found] == [["clean.profile", "clean.unigrams"], ["split.kind", "split.train_before"]]


def test_specs_of_other_inputs_or_equal_rules_are_refused() -> None:
    with pytest.raises(UserError, match="differ in drops, sources or profile"):
        make_variants(OURS, THEIRS.model_copy(update={"drops": ("x",)}))
    with pytest.raises(UserError, match="have the same rules"):
        make_variants(OURS, OURS.model_copy(update={"name": "again"}))


def release(lake: LocalLake, folder: Path, spec: ReleaseSpec, *, copies: int) -> Run:
    """Return a release of a paper and its repetitions. Two of four papers cite another one; the venue of repetitions is the spec."""
    first = next(one for one in papers(8) if one.kept and one.parse and not one.latex)
    made: list[Paper] = [first]
    for number in range(copies):
        id_ = f"{number}".rjust(15, "f")
        row = {**first.row, "paper_id": id_, "record_ids": [f"crossref:{id_}"], "venue": spec.name}
        made.append(replace(first, row=row, parse={**(first.parse or {}), "paper_id": id_}))
    return build(lay_out(lake, folder, spec, iter(made), buckets=1))


def test_table_counts_what_each_rule_changes(tmp_path: Path) -> None:
    lake = LocalLake(tmp_path / "lake")
    variants = {one.description.partition(" with ")[2]: one for one in make_variants(OURS, THEIRS)}
    assert list(variants) == ["filter.language: cld2", "clean.min_words: 400", "split.near_duplicates: ignore"]
    ours = release(lake, tmp_path, OURS, copies=3)
    theirs = release(lake, tmp_path, THEIRS, copies=3)
    release(lake, tmp_path, variants["split.near_duplicates: ignore"], copies=3)
    release(lake, tmp_path, variants["clean.min_words: 400"], copies=0)
    words = sum(counted["words"] for counted in _read_sets(ours)["s2orc"].values())
    arguments = [str(one.snapshot_id) for one in (ours, theirs)]
    shown = invoke("diff", *arguments, "--lake", lake.root)
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in shown.output.splitlines()
        if line.startswith("|")
    ]
    assert rows[0] == ["ours with", "papers", "fields", "links", "words"]
    assert rows[2:] == [
        ["filter.language: cld2", "–", "–", "–", "–"],
        ["clean.min_words: 400", "−3", "0", "−2", "0"],
        ["split.near_duplicates: ignore", "0", "3 venue", "0", f"+{3 * words:,} of {words:,}, documents +3"],
        ["all rules of theirs", "0", "3 venue", "0", f"+{3 * words:,} of {words:,}, documents +3"],
    ]
    assert "no variant in the lake" in shown.output


def _read_sets(run: Run) -> dict[str, dict[str, dict[str, int]]]:
    import orjson

    sets: dict[str, dict[str, dict[str, int]]] = orjson.loads(
        run.lake.get(f"snapshots/{run.snapshot_id}/stats.json")[0]
    )["sets"]
    return sets
