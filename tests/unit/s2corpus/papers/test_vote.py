"""The vote chooses each field of a paper (SPEC §5.1–5.14, S2ORC §2.3), and the laws apply to every cluster."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2corpus.papers import support
from s2corpus.papers.ballots import FIELDS, DeliveredRecord, Group, select_supported
from s2corpus.papers.evidence import Declaration
from s2corpus.papers.support import compute_similarity, select_fewest_sources
from s2corpus.papers.vote import FieldDecision, Pdf, Preprint, VotedPaper, VoteRule, elect_metadata, make_rank
from s2corpus.rules import VoteRules
from s2corpus.sources import SOURCES, Author, Record, RecordKind
from s2corpus.sources.record import DECLARED, WorkType
from s2corpus.titles import score
from tests.unit.s2corpus.papers.samples import DOI, PREPRINT, A, B, declare, header, is_preprint, publisher, record

TRUST = ("crossref", "pubmed", "declared", "acl", "dblp", "arxiv", "s2", "unpaywall", "scienceparse", "grobid")
OPENING = Declaration("one", "a.pdf", True)
ADA, ALAN = Author("Ada", (), "Lovelace", ""), Author("Alan", ("M",), "Turing", "")
A_LOVELACE = Author("A", (), "Lovelace", "")
BY_ACL_ID, BY_PMC_ID = publisher("acl", acl_id="P19-1001", title="ACL"), publisher("jats", pmc_id="PMC1", title="PMC")
PRINTED, BY_DOI, BY_SHA1 = header(doi=DOI), publisher(doi=DOI, title="By DOI"), publisher("acl", file_sha1=A, title="By SHA-1")  # fmt: skip
PUBLISHER, MAJORITY, FEWEST, BY_TRUST, BY_PREPRINT, PDF, *_ = VoteRule
SPACED = publisher(doi=DOI, title="New Tech Nology")
IANNACCI = Author("G", (), "Iannacci", "")
PREPRINTED = publisher(doi=PREPRINT, type=WorkType.PREPRINT, date="2019", abstract="We preprint.")
Cast = Record | tuple[str, Record]
"""a record, or its ready_at and the record"""


def vote(*records: Cast, **options: Any) -> VotedPaper:
    delivered = [DeliveredRecord(r) if isinstance(r, Record) else DeliveredRecord(r[1], r[0]) for r in records]
    rules = {name: options.pop(name) for name in VoteRules.model_fields if name in options}
    return elect_metadata("p", delivered, VoteRules(trust=TRUST, **rules), is_preprint=is_preprint, **options)


def deliver_as(name: str) -> dict[str, Any]:
    return {"pdfs": {A: Pdf("", (Declaration("d", name),))}}


def say(name: str, **values: Any) -> list[Cast]:
    """Return a record with this field for each source."""
    return [record(source, **{name: value}) for source, value in values.items()]


OPEN = {"all_open": True}
DEEP = "Deep parsing of {}".format
SIMILAR = say("title", crossref="A deep parser", dblp=DEEP("paper"), arxiv=DEEP("papers"), s2=DEEP("pagers"))
READ: list[tuple[str, Any, Any]] = [("title", "GROBID", "Science"), ("authors", (ALAN,), (ADA,))]
CASES: dict[str, tuple[list[Cast], dict[str, Any], str, Any, tuple[str, VoteRule, int, int] | None]] = {
    # case: records, options, field, value, (record, rule, votes for, votes against)
    "publisher record of the PDF": (
        [PRINTED, BY_DOI, record("dblp", title="Else"), record("s2", title="Also")], {}, "title", "By DOI", ("crossref:1", PUBLISHER, 1, 2),
    ),
    "naming the PDF is more than its DOI": ([PRINTED, BY_DOI, BY_SHA1], {}, "title", "By SHA-1", ("acl:1", PUBLISHER, 1, 1)),
    "file name is more than a declared id": (
        [header(), declare(acl_id="P19-1001"), BY_ACL_ID, BY_PMC_ID],
        deliver_as("oa/PMC1.pdf"), "title", "PMC", ("jats:1", PUBLISHER, 1, 1),
    ),
    "declared PMC id": (
        [header(), declare(pmc_id="PMC1"), BY_PMC_ID, BY_DOI], {}, "title", "PMC", ("jats:1", PUBLISHER, 1, 1),
    ),
    "declared ACL id": ([header(), declare(acl_id="P19-1001"), BY_ACL_ID, BY_DOI], {}, "title", "ACL", ("acl:1", PUBLISHER, 1, 1)),
    "id of another file": ([header(), BY_ACL_ID, BY_DOI], deliver_as("P19-1002.pdf"),
                           "title", "By DOI", ("crossref:1", BY_TRUST, 1, 1)),
    "most trusted of several publisher records": (
        [PRINTED, ("2023", publisher("acl", doi=DOI, title="Later")), ("2022", BY_DOI)],
        {}, "title", "By DOI", ("crossref:1", PUBLISHER, 1, 1),
    ),
    "latest publisher record of a source": (
        [PRINTED, ("2022", BY_DOI), ("2023", publisher(native="2", doi=DOI, title="T"))], {}, "title", "T", ("crossref:2", PUBLISHER, 1, 0),
    ),
    "publisher record without the field": (
        [PRINTED, BY_DOI, *say("venue", dblp="ACL", s2="EMNLP", openalex="Acl")], {}, "venue", "ACL", ("dblp:1", MAJORITY, 2, 1),
    ),
    "without a PDF a publisher has one vote": (
        [publisher(venue="J. Parsing"), *say("venue", dblp="ACL", s2="acl")], {}, "venue", "ACL", ("dblp:1", MAJORITY, 2, 1),
    ),
    "a source votes once with its latest record": (
        [("2022", record("s2", venue="Old")), ("2023", record("s2", "2", venue="New")), record("dblp", venue="New")],
        {}, "venue", "New", ("dblp:1", MAJORITY, 2, 0),
    ),
    "publisher's record that others contradict": (
        [PRINTED, SPACED, *say("title", dblp="New technology", s2="New technology")], {}, "title",
        "New technology", ("dblp:1", MAJORITY, 3, 0),
    ),
    "publisher's author that others contradict": (
        [PRINTED, publisher(doi=DOI, authors=(Author("G", (), "lannacci", ""),)), *say("authors", dblp=(IANNACCI,), s2=(IANNACCI,))],
        {}, "authors", (IANNACCI,), ("dblp:1", MAJORITY, 2, 1),
    ),
    "publisher's record has its vote for all, literally": (
        [PRINTED, SPACED, *say("title", dblp="New technology", s2="New technology")],
        {"records": "equal"}, "title", "New Tech Nology", ("crossref:1", PUBLISHER, 3, 0),
    ),
    "abbreviated journal does not contradict": (
        [PRINTED, publisher(doi=DOI, journal="Journal of Parsing"), *say("journal", dblp="J. Parsing", s2="J. Parsing")],
        {}, "journal", "Journal of Parsing", ("crossref:1", PUBLISHER, 1, 2),
    ),
    "cut title does not contradict": (
        [PRINTED, publisher(doi=DOI, title="Parsing: a survey"), *say("title", dblp="Parsing", s2="Parsing")],
        {}, "title", "Parsing: a survey", ("crossref:1", PUBLISHER, 1, 2),
    ),
    "capitals of the PDF's publisher record": (
        [PRINTED, publisher(doi=DOI, title="DEEP PARSING OF PAPERS"), record("s2", title="Deep parsing of papers")],
        {}, "title", "Deep parsing of papers", ("s2:1", MAJORITY, 2, 0),
    ),
    "capitals of most sources": (
        say("title", crossref="DEEP PARSING", dblp="DEEP PARSING", s2="Deep parsing"),
        {}, "title", "Deep parsing", ("s2:1", MAJORITY, 3, 0),
    ),
    "surnames in capitals": (
        [publisher(authors=(Author("Ada", (), "LOVELACE", ""),)), record("s2", authors=(ADA,))],
        {}, "authors", (ADA,), ("s2:1", MAJORITY, 2, 0),
    ),
    "publisher's punctuation, not length": (
        [publisher(title="Deep parsing, fast"), *say("title", dblp="Deep parsing --- fast.", s2="Deep parsing -- fast.")],
        {}, "title", "Deep parsing, fast", ("crossref:1", MAJORITY, 3, 0),
    ),
    "publisher wins a tie before trust": (
        [record("dblp", venue="ACL"), publisher("unpaywall", venue="EMNLP")], {}, "venue", "EMNLP", ("unpaywall:1", FEWEST, 1, 1),
    ),
    "declared value wins a tie in profile own": (
        [declare(venue="ACL"), publisher(venue="EMNLP")], OPEN, "venue", "ACL", ("declared:d/a.pdf", FEWEST, 1, 1),
    ),
    **{
        f"preprint does not vote on {name}": (
            [publisher(native="2", doi=DOI, **{name: ours}), *say(name, arxiv=theirs, s2=theirs), PREPRINTED],
            {}, name, value, ("crossref:2", FEWEST, 1, 1),
        ) for name, ours, theirs, value in (("title", "New", "Old", "New"), ("journal", "J", "K", "J"), ("pages", "1-2", "3", "1-2"))
    },
    "DOI of the article": ([PREPRINTED, publisher(native="2", doi=DOI)], {}, "doi", DOI, ("crossref:2", MAJORITY, 1, 0)),
    "DOI of the article beside the preprint's PDF": (
        [header(doi=PREPRINT), ("2024", PREPRINTED), ("2023", publisher(native="2", doi=DOI))],
        {}, "doi", DOI, ("crossref:2", MAJORITY, 1, 0),
    ),
    "date of the article": (
        [PREPRINTED, publisher(native="2", doi=DOI, date="2021"), record("s2", doi=DOI, arxiv_id="1", date="2019")],
        {}, "date", ("2021", "year"), ("crossref:2", MAJORITY, 1, 0),
    ),
    "no journal of a preprint": ([PREPRINTED, record("dblp", type=WorkType.ARTICLE, title="T")], {}, "date", None, None),
    "abstract of a preprint": (
        [PREPRINTED, publisher(native="2", doi=DOI)], {}, "abstract", "We preprint.", ("crossref:1", BY_PREPRINT, 1, 0),
    ),
    "preprints vote literally": (
        [("2024", PREPRINTED), ("2023", publisher(native="2", doi=DOI))],
        {"records": "equal"}, "doi", PREPRINT, ("crossref:1", MAJORITY, 1, 0),
    ),
    "fullest record of one time": (
        [record("s2", "1", title="A"), record("s2", "2", title="B", venue="V")], {}, "title", "B", ("s2:2", MAJORITY, 1, 0),
    ),
    "most frequent form": (
        say("title", s2="Parsing", dblp="parsing.", arxiv="Parsing"), {}, "title", "Parsing", ("arxiv:1", MAJORITY, 3, 0),
    ),
    "fullest form": (say("title", dblp="deep parsing", s2="Deep: parsing"), {}, "title", "Deep: parsing", ("s2:1", MAJORITY, 2, 0)),
    "source already used wins a tie": (
        [*say("venue", dblp="ACL"), record("s2", venue="EMNLP", title="T")], {}, "venue", "EMNLP", ("s2:1", FEWEST, 1, 1),
    ),
    "trusted source wins a tie of two used sources": (
        [record("dblp", venue="ACL", title="T"), record("s2", venue="EMNLP", date="2020")], {}, "venue", "ACL", ("dblp:1", BY_TRUST, 1, 1),
    ),
    "PDF, as no record has authors": (
        [header(title="Read", authors=(ADA,)), record("s2", title="Said")], {}, "authors", (ADA,), (f"grobid:{A}", PDF, 1, 0),
    ),
    "declared value replaces the PDF's": (
        [header(date="2019", venue="V"), declare(date="2021-03")], {}, "date", ("2021-03", "month"), ("declared:d/a.pdf", MAJORITY, 1, 0),
    ),
    "date: the fullest of a year": (
        say("date", s2="2019-05-01", dblp="2019", arxiv="2020"), {}, "date", ("2019-05-01", "day"), ("s2:1", MAJORITY, 2, 1),
    ),
    **{
        f"ScienceParse outranks the extractor in {name}": (
            [header(**{name: read}), header(source="scienceparse", **{name: best})], {}, name, best, (f"scienceparse:{A}", PDF, 1, 0),
        ) for name, read, best in READ
    },
    "abstract of an open PDF": ([header(abstract="We.")], OPEN, "abstract", "We.", (f"grobid:{A}", PDF, 1, 0)),
    "abstract of a closed PDF": ([header(abstract="We.")], {}, "abstract", None, None),
    "most similar title": (SIMILAR, {}, "title", "Deep parsing of papers", ("arxiv:1", MAJORITY, 1, 3)),
    "equal titles only": (SIMILAR, {"support": "equal"}, "title", "A deep parser", ("crossref:1", FEWEST, 1, 3)),
    "primary field: most sources": (
        say("subjects", crossref=("Chemistry", "Biology"), pubmed=("Biology",), s2=("Medicine",)),
        {}, "fields_of_study", ("Biology", "Chemistry"), ("crossref:1", FEWEST, 1, 2),
    ),
    "primary field: in a tie the first of the most trusted": (
        say("subjects", s2=("Medicine", "Biology"), dblp=("Biology", "Medicine")),
        {}, "fields_of_study", ("Biology", "Medicine"), ("dblp:1", MAJORITY, 2, 0),
    ),
    "primary field: added to the fields": (
        say("subjects", s2=("Physics", "Biology"), arxiv=("cs.LG",), acl=("cs.CL",), dblp=("Physics", "Geology"), x=("Physics",)),
        {}, "fields_of_study", ("Physics", "Computer Science"), ("acl:1", MAJORITY, 2, 3),
    ),
    "three short words in capitals": (
        say("title", crossref="ON THE USE", dblp="On the use"), {}, "title", "On the use", ("dblp:1", MAJORITY, 2, 0),
    ),
    "two acronyms": (say("title", crossref="BERT GPT", dblp="Bert gpt"), {}, "title", "BERT GPT", ("crossref:1", MAJORITY, 2, 0)),
    "OpenAlex without declared fields": (
        say("subjects", openalex=("subfields/1702",), s2=("unknown section",)),
        {}, "fields_of_study", ("Computer Science",), ("openalex:1", MAJORITY, 1, 0),
    ),
    "OpenAlex with declared fields": (
        say("subjects", openalex=("subfields/1702",), s2=("Medicine",)), {}, "fields_of_study", ("Medicine",), ("s2:1", MAJORITY, 1, 0),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_field_has_this_value_by_this_rule(case: str) -> None:
    records, options, name, value, decision = CASES[case]
    for order in (records, records[::-1]):
        paper = vote(*order, **options)
        assert paper.values.get(name) == value
        expected = decision and FieldDecision(decision[0].partition(":")[0], *decision)
        assert paper.provenance.get(name) == expected
        assert list(paper.values) == list(paper.provenance) == [name for name in FIELDS if name in paper.values]


@pytest.mark.parametrize(("source", "kind"), [*zip(("crossref", "s2", "scienceparse"), RecordKind, strict=True)])
def test_untitled_record_does_not_remove_title(source: str, kind: RecordKind) -> None:
    read: dict[str, Any] = {"title": "Read", "abstract": "We read.", "venue": "Printed", "authors": (ADA,)}
    paper = vote(header(**read), record(source, kind=kind, doi=DOI, file_sha1=A), all_open=True)
    assert {name: paper.values.get(name) for name in read} == read
    assert paper.provenance["title"].rule is VoteRule.PDF


def test_trust_names_every_source() -> None:
    assert set(VoteRules().trust) == {DECLARED, *(SOURCES.load(name).NAME for name in SOURCES.names)}


def test_preprints_are_listed_with_identifiers_and_dates() -> None:
    arxiv = record("arxiv", arxiv_id="1911.00001", doi=DOI, date="2019-11")
    paper = vote(PREPRINTED, arxiv, publisher(native="2", doi=DOI, date="2021"), record("s2", doi=PREPRINT))
    assert paper.preprints == (Preprint(None, "1911.00001", "2019-11"), Preprint(PREPRINT, None, "2019"))
    assert vote(PREPRINTED, arxiv).preprints == ()  # without a published paper, the preprint is the paper


FULL = publisher("acl", file_sha1=B, abstract="We.", venue="ACL", date="2020")
OLD, NEW = (Pdf(f"2023-01-0{day}", (OPENING,)) for day in (1, 2))
TERSE = publisher(file_sha1=A, doi=DOI, title="T", journal="J", volume="1", issue="2")


@pytest.mark.parametrize(
    ("a", "b", "records", "chosen"),
    [
        (NEW, OLD, [FULL, TERSE], B),  # more of abstract, date, venue and DOI than of other fields
        (NEW, OLD, [], A),  # the latest first seen
        (NEW, NEW, [], A),  # the smallest SHA-1
    ],
)
def test_canonical_pdf_is_chosen_in_this_order(a: Pdf, b: Pdf, records: list[Record], chosen: str) -> None:
    paper = vote(header(B), header(A), *records, pdfs={A: a, B: b})
    assert (paper.canonical_pdf, paper.openness) == (chosen, paper.access[chosen])


def test_paper_without_header_has_no_pdf() -> None:
    records = [
        record("s2", "2", title="T", mag_id="7", subjects=("b", "a"), file_sha1=A),
        record("s2", "1", mag_id="5"),
        header(source="scienceparse", mag_id="7", subjects=("a", "c")),
    ]
    paper = vote(*records)
    assert (paper.paper_id, paper.mag_ids, paper.subjects) == ("p", ("5", "7"), ("a", "b", "c"))
    assert paper.record_ids == ("s2:1", "s2:2", f"scienceparse:{A}")
    assert (paper.canonical_pdf, paper.access, paper.openness.open, paper.openness.searches) == (None, {}, False, ())


# -- Laws

TEXT = st.text("abc", min_size=1, max_size=12)
SURNAMES = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)


@given(st.sampled_from(["title", "abstract", "venue", "journal"]), TEXT, TEXT)
def test_similarity_of_texts_is_s(name: str, a: str, b: str) -> None:
    assert compute_similarity(name, a, b) == pytest.approx(score(a, b))


@given(SURNAMES, SURNAMES)
def test_similarity_of_authors_is_share_of_surnames(a: list[str], b: list[str]) -> None:
    common = sum(min(a.count(name), b.count(name)) for name in set(a))
    assert compute_similarity("date", a[0], b[0]) == (a[0] == b[0])
    assert compute_similarity("authors", tuple(a), tuple(b)) == (1.0 if a == b else 2 * common / (len(a) + len(b)))


@pytest.mark.parametrize(("exact", "found"), [(4, {"a", "b", "c"}), (3, {"a", "b", "c", "z"})])
def test_many_sources_are_chosen_greedily(exact: int, found: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The greedy choice may use one source more than the minimum."""
    assert support.MAX_EXHAUSTIVE == 16
    monkeypatch.setattr(support, "MAX_EXHAUSTIVE", exact)
    needs = [{"a", "z"}, {"b", "z"}, {"c", "z"}, {"a"}, {"b"}, {"c"}]
    assert select_fewest_sources(needs, set(), lambda source: (0, source)) == found


WORDS = st.sampled_from(["deep parsing", "Deep Parsing", "shallow", "Graphs!"])
VALUES: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("title", "abstract", "venue", "journal"), WORDS),
    "doi": st.sampled_from(["10.18653/v1/x", "10.18653/v1/y"]),
    "date": st.sampled_from(["2019", "2020", "2020-05", "2020-05-31"]),
    "authors": st.sampled_from([(ADA,), (ADA, ALAN), (A_LOVELACE, ALAN)]),
}


@st.composite
def clusters(draw: st.DrawFn) -> list[DeliveredRecord]:
    found = []
    for number in range(draw(st.integers(1, 6))):
        pdf = draw(st.integers(0, 4)) == 0
        kind = RecordKind.PDF if pdf else draw(st.sampled_from([RecordKind.PUBLISHER, RecordKind.ARCHIVE]))
        given = {name: value for name, values in VALUES.items() if (value := draw(st.none() | values))}
        sha1 = draw(st.sampled_from([A, B])) if pdf else draw(st.sampled_from([None, None, A]))
        made = record(
            draw(st.sampled_from(TRUST[8:] if pdf else TRUST[:8])), str(number), kind, file_sha1=sha1, **given
        )
        found.append(DeliveredRecord(made, draw(st.sampled_from(["2022", "2023"]))))
    return found


def test_equal_supports_are_equal_in_any_order() -> None:
    """The second and third list have the support 41/21, whose floating-point sums differ with the order; the first has 11/7."""
    lists = (("a", "c", "d", "f"), ("b", "c", "e"), ("b", "d", "e"))
    for order in permutations(lists):
        groups = [Group(names, {f"s{at}": (names, DeliveredRecord(record("s")))}) for at, names in enumerate(order)]
        assert {group.value for group in select_supported("authors", groups, "similar")} == set(lists[1:])


@settings(max_examples=60)
@given(clusters(), st.randoms(), st.data())
def test_order_and_duplicates_of_records_do_not_matter(
    cluster: list[DeliveredRecord], rng: Any, data: st.DataObject
) -> None:
    rules = VoteRules(trust=TRUST)
    paper = elect_metadata("p", cluster, rules)
    assert elect_metadata("p", rng.sample(cluster, len(cluster)), rules) == paper
    duplicate = data.draw(st.sampled_from(cluster))
    copy = replace(duplicate, record=replace(duplicate.record, record_id="zz:9"))
    again = elect_metadata("p", [*cluster, copy], rules)
    # The checks and decisions name supporting records, including the new one.
    assert (again.values, again.canonical_pdf) == (paper.values, paper.canonical_pdf)
    assert [replace(d, record_id="") for d in again.provenance.values()] == [
        replace(d, record_id="") for d in paper.provenance.values()
    ]
    found = [[(look.evidence, look.found) for look in one.openness.searches] for one in (again, paper)]
    assert found[0] == found[1] and replace(again.openness, searches=()) == replace(paper.openness, searches=())


@settings(max_examples=60)
@given(
    st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1), max_size=6),
    st.sets(st.sampled_from("abcdefgh"), max_size=2),
)
def test_fewest_sources_is_minimal_and_most_trusted(needs: list[set[str]], used: set[str]) -> None:
    rank = make_rank("hgfedcba")
    chosen = select_fewest_sources(needs, used, rank)
    assert all(need & (used | chosen) for need in needs)
    same_size = [
        set(subset) for size in range(len(chosen) + 1) for subset in combinations("hgfedcba", size)
        if all(need & (used | set(subset)) for need in needs)
    ]  # fmt: skip
    assert min(map(len, same_size)) == len(chosen)
    assert sorted(map(rank, chosen)) == min(
        sorted(map(rank, subset)) for subset in same_size if len(subset) == len(chosen)
    )


@settings(max_examples=200)
@given(
    st.lists(st.fixed_dictionaries({name: st.sampled_from([None, "a", "b"]) for name in ("title", "venue", "journal", "volume")}),
             min_size=1, max_size=4),
    st.sampled_from(["similar", "equal"]),
)  # fmt: skip
def test_vote_uses_fewest_sources_over_all_fields(given_: list[dict[str, Any]], support: str) -> None:
    sources = dict(zip(("dblp", "s2", "openalex", "x"), given_, strict=False))
    paper = vote(*(record(source, **values) for source, values in sources.items()), support=support)
    needs = []
    for name in paper.values:
        counts = Counter(values[name] for values in sources.values() if values[name])
        most = {value for value, count in counts.items() if count == max(counts.values())}
        needs.append({source for source, values in sources.items() if values[name] in most})
    fewest = next(
        size for size in range(5) for some in combinations(sources, size) if all(need & {*some} for need in needs)
    )
    assert len({decision.source for decision in paper.provenance.values()}) == fewest
