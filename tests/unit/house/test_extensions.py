"""Each extension has all its parts (docs/extending.md): a message names the missing part. Columns have test_contract.py."""

import inspect
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from pydantic import BaseModel

from s2corpus.extractors import EXTRACTORS
from s2corpus.pipeline.checks import QualityCheck, list_all_checks
from s2corpus.pipeline.stages import PIPELINE
from s2corpus.snapshot.manifest import list_rules, read_descriptions
from s2corpus.sources import SOURCES
from s2corpus.spec import ReleaseSpec
from s2corpus_datasets.spec import DATASETS
from s2orc_parse.outcomes import Outcome
from tests.unit.s2corpus.sources.test_adapters import test_documented_entry_becomes_a_record as documented_entries

ROOT = Path(__file__).resolve().parents[3]
INCLUDE = ROOT / "include" / "s2corpus"
LAST_RELEASE = "1.0.0"
TESTS = "\n".join(
    path.read_text("utf-8") for path in sorted((ROOT / "tests").rglob("test_*.py")) if path != Path(__file__)
)


def read(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


def find_modules(folder: str, pattern: str) -> set[str]:
    """Return the names of modules and packages of a folder with a line that begins with the pattern."""
    files = [*(ROOT / "include" / folder).glob("*.py"), *(ROOT / "include" / folder).glob("*/__init__.py")]
    found = (path for path in files if re.search(pattern, path.read_text("utf-8"), re.MULTILINE))
    return {path.parent.name if path.name == "__init__.py" else path.stem for path in found}


def list_missing_parts(kind: str, name: str) -> Iterator[str]:
    """Yield each part that an extension lacks, with the file to edit."""
    if kind == "source":
        mark = next(mark for mark in documented_entries.pytestmark if mark.name == "parametrize")
        if name not in {case[0] for case in mark.args[1]} and f'entries("{name}"' not in TESTS:
            yield "no test of a documented entry in tests/unit/s2corpus/sources/test_adapters.py"
        if f"`{SOURCES.load(name).NAME}:<" not in (inspect.getdoc(SOURCES.load(name)) or "").partition("\n\n")[0]:
            yield f"the docstring of include/s2corpus/sources/{name}.py does not state the record ids"
    if kind == "extractor":
        if f"extractors.{name}" not in TESTS and f"extractors import {name}" not in TESTS:
            yield "no test file that imports it"
        if f"`{name}`" not in read("docs/extractors.md"):
            yield "no row in docs/extractors.md"
    if kind == "dataset":
        if not (ROOT / "include" / "datasets" / f"{name}.yaml").is_file():
            yield f"no spec include/datasets/{name}.yaml"
        if not re.search(rf"^- `{name}`:", read("docs/datasets.md"), re.MULTILINE):
            yield "no row in docs/datasets.md"
        if f"s2corpus_datasets.{name}" not in TESTS and f'"{name}"' not in TESTS:
            yield "no test that names it"
    if kind == "stage":
        if not re.search(rf'^### <a id="stage-{name}"></a>', read("docs/runbook.md"), re.MULTILINE):
            yield f"no section stage-{name} in docs/runbook.md"
        if name not in find_modules("s2corpus/stages", rf"^(?:class |from .* import ).*{name.capitalize()}Stage"):
            yield f"no class {name.capitalize()}Stage in include/s2corpus/stages/{name}.py"


EXTENSIONS = [
    *(("source", name) for name in SOURCES.built_in), *(("extractor", name) for name in EXTRACTORS.built_in),
    *(("dataset", name) for name in DATASETS.built_in), *(("stage", row.name) for row in PIPELINE),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "name"), EXTENSIONS, ids=lambda value: value)
def test_extension_has_all_parts(kind: str, name: str) -> None:
    assert list(list_missing_parts(kind, name)) == [], f"the {kind} {name} lacks parts (docs/extending.md)"


def test_each_module_of_an_extension_is_registered() -> None:
    assert find_modules("s2corpus/sources", r"^(?:\w+, )?KIND\b") == {*SOURCES.built_in}
    assert find_modules("s2corpus/extractors", r"^CONVERTER_VERSION\b") == {*EXTRACTORS.built_in}
    assert find_modules("s2corpus_datasets", r"^DATASET = ") == {*DATASETS.built_in}


@pytest.mark.parametrize("check", list_all_checks(), ids=lambda check: f"{check.stage}.{check.name}")
def test_check_has_a_test_and_a_threshold(check: QualityCheck) -> None:
    """Check that a test names each check (those of keys and outcomes have one test for all), and that the spec has its threshold."""
    try:
        check.read_threshold(ReleaseSpec(name="t"))
    except (AttributeError, TypeError, ValueError):
        pytest.fail(f"{check.name}: {check.threshold} is no number of the spec (include/s2corpus/spec.py)")
    part = re.sub(r"^drift_of_|_(?:warn|block)$", "", check.name)
    assert check.name.endswith("_key_is_unique") or part in TESTS, f"{check.name}: no test in test_sql_checks.py"


def test_each_field_of_a_spec_has_a_meaning() -> None:
    sections = {name: field.annotation for name, field in ReleaseSpec.model_fields.items()}
    models = {
        name: model for name, model in sections.items() if isinstance(model, type) and issubclass(model, BaseModel)
    }
    missing = [name for name in ReleaseSpec.model_fields if name not in {*models, *read_descriptions(ReleaseSpec)}]
    for section, model in models.items():
        missing += [f"{section}.{name}" for name in model.model_fields if name not in read_descriptions(model)]
    assert missing == [], "no docstring below the field"


@pytest.mark.parametrize("kind", Outcome.__subclasses__(), ids=lambda kind: kind.__name__)
def test_each_outcome_is_returned(kind: type[Outcome]) -> None:
    """Check that code or SQL outside the declaration names each outcome; an example of an adapter returns one of them."""
    examples = (ROOT / "devtools" / "examples").glob("*.py")
    files = [*INCLUDE.parent.rglob("*.py"), *INCLUDE.rglob("*.sql"), *(ROOT / "sql").rglob("*.sql"), *examples]
    code = "\n".join(path.read_text("utf-8") for path in sorted(files) if path.name != "outcomes.py")
    words = {outcome: outcome.value.removeprefix("failed:") for outcome in kind}
    missing = [
        outcome.name
        for outcome, word in words.items()
        if not any(name in code for name in (f"{kind.__name__}.{outcome.name}", f'"{word}"', f"'{word}'"))
    ]
    assert missing == [], f"no code returns them: {kind.__module__} declares them"


def test_changed_default_is_in_the_changelog() -> None:
    """Compare with the rules that the manifest of the last version's fixture states: a new default changes texts."""
    with tarfile.open(ROOT / "tests" / "data" / "releases" / f"{LAST_RELEASE}.tar.gz") as archive:
        name = min(name for name in archive.getnames() if re.search(r"/snapshots/[^/]+/manifest\.json$", name))
        content = archive.extractfile(name)
        assert content is not None
        released = orjson.loads(content.read())["rules"]
    defaults = list_rules(ReleaseSpec(name="sample"))
    assert released.keys() & defaults.keys() > {"clean.min_words", "filter.min_characters", "link.min_score"}
    changed = [key for key in defaults if released.get(key, defaults[key]) != defaults[key] and key != "export.files"]
    news = read("CHANGELOG.md").partition(f"## [{LAST_RELEASE}]")[0]
    assert [key for key in changed if f"`{key}`" not in news] == [], "a default changed: name it in CHANGELOG.md"
