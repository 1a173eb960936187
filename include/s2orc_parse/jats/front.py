"""Read the front matter of a JATS article: title, authors, dates, abstract and identifiers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from s2orc_parse.bibliography.author import Author
from s2orc_parse.bibliography.author_fields import add_affiliations
from s2orc_parse.bibliography.dates import NO_DATE, PlainDate, join_date, parse_date
from s2orc_parse.bibliography.fields import clean_issns, join_titles
from s2orc_parse.bibliography.identifiers import doi_key, doi_of_jstor, normalize_pmcid
from s2orc_parse.bibliography.licenses import find_license
from s2orc_parse.bibliography.name_words import is_title
from s2orc_parse.bibliography.names import make_author, make_group, parse_name
from s2orc_parse.jats.abstract import LANGUAGE, article_language, read_abstract, read_plain_text
from s2orc_parse.jats.header import MAX_KEYWORDS, FrontMatter, is_author_type, rank_date
from s2orc_parse.words import read_table
from s2orc_parse.xml import extract_text, iter_text, local_name

_EMAIL = re.compile(r"[^\s@<>\"]{1,64}@[^\s@<>\"]{1,190}\.[A-Za-z]{2,24}")
_HREF = "{http://www.w3.org/1999/xlink}href"
_KEYWORD_SIGNS = re.compile(r"[;,•·|]")
_VALUES = read_table("jats/words")["values"]
_ARTICLE_TYPE_WORDS, _KEYWORD_GROUPS = (
    frozenset(_VALUES[name].split()) for name in ("article_types", "keyword_groups")
)

_NOT_AFFILIATION = frozenset(("label", "sup", "email", "ext-link", "uri", "institution-id", "fn", "phone", "fax"))
_NOT_GROUP_NAME = frozenset(
    ("contrib-group", "aff", "address", "author-comment", "bio", "email", "ext-link", "uri", "fn", "xref")
)


def read_front(article: Any) -> FrontMatter | None:
    """Return the front matter of an `article` element; return None without `article-meta`."""
    meta = article.find("{*}front/{*}article-meta")
    if meta is None:
        return None
    ids = _identifiers(meta)
    pmc_id = normalize_pmcid(ids.get("pmcid") or ids.get("pmc") or "")
    native = (
        doi_key(ids["doi"])
        if "doi" in ids
        else pmc_id or ids.get("pmid") or ids.get("publisher-id") or next(iter(ids.values()), "")
    )
    license, open_access = _read_license(meta)
    first, last, electronic = (extract_text(meta.find(f"{{*}}{name}")) for name in ("fpage", "lpage", "elocation-id"))
    return FrontMatter(
        native_id=native,
        title=join_titles(*(read_plain_text(meta.find(f"{{*}}title-group/{{*}}{part}")) for part in ("article-title", "subtitle"))),
        authors=tuple(_read_authors(meta)), date=_read_date(meta),
        venue=extract_text(meta.find("{*}conference/{*}conf-name")) or extract_text(meta.find("{*}conference/{*}conf-acronym")),
        journal=extract_text(article.find("{*}front/{*}journal-meta//{*}journal-title")), abstract=read_abstract(meta),
        volume=extract_text(meta.find("{*}volume")), issue=extract_text(meta.find("{*}issue")),
        pages=f"{first}-{last}" if first and last and first != last else first or electronic,
        doi=ids.get("doi"), arxiv_id=ids.get("arxiv"), pubmed_id=ids.get("pmid"), pmc_id=pmc_id, subjects=_read_subjects(meta),
        license=license, open_access=open_access, keywords=_read_keywords(meta), issns=_read_issns(article),
        emails=tuple(_read_emails(meta)),
    )  # fmt: skip


def _identifiers(meta: Any) -> dict[str, str]:
    """Return the article's identifiers by their type, the first of each; a DOI of one version only without another."""
    found: dict[str, str] = {}
    items = sorted(meta.iterfind("{*}article-id"), key=lambda item: item.get("specific-use") is not None)
    for item in items:
        kind, value = (item.get("pub-id-type") or "").casefold(), extract_text(item)
        if value:
            found.setdefault(kind, value)
    if "doi" not in found and (doi := doi_of_jstor(found.get("jstor", ""))):
        found["doi"] = doi
    return found


def _read_authors(meta: Any) -> Iterator[Author | None]:
    all_affiliations = list(meta.iter("{*}aff"))
    known = {aff.get("id"): aff for aff in all_affiliations if aff.get("id")}
    for forms in meta.iter("{*}aff-alternatives"):  # one affiliation in several languages
        known.update({aff.get("id"): forms[0] for aff in (forms, *forms) if len(forms) and aff.get("id")})
        all_affiliations = [aff for aff in all_affiliations if aff not in forms[1:]]
    shared: dict[Any, list[Any]] = {}
    for author in _find_authors(meta):
        group = next(author.iterancestors("{*}contrib-group"))
        if group not in shared:
            # An unreferenced single affiliation belongs to all authors; several cannot be assigned.
            found = [aff for aff in all_affiliations if aff.getparent() is group] or all_affiliations
            has_references = group.find(".//{*}xref[@ref-type='aff']") is not None
            shared[group] = [] if has_references or len(found) > 1 else found
        ids = [
            ref_id for ref in author.iterfind("{*}xref[@ref-type='aff']") for ref_id in (ref.get("rid") or "").split()
        ]
        own = [*author.iterfind("{*}aff"), *(known[ref_id] for ref_id in ids if ref_id in known)]
        orcids = author.iterfind("{*}contrib-id[@contrib-id-type='orcid']")
        yield add_affiliations(
            _read_author(author), map(_affiliation, own or shared[group]), " ".join(map(extract_text, orcids))
        )


def _find_authors(meta: Any) -> list[Any]:
    """Return the contributors that are authors. A group's members are authors only if the group is the only one."""
    found = [one for one in meta.iterfind("{*}contrib-group/{*}contrib") if _is_author(one)]
    if len(found) == 1:
        found += [one for one in found[0].iterfind("{*}collab/{*}contrib-group/{*}contrib") if _is_author(one)]
    return found


def _is_author(contributor: Any) -> bool:
    """Return whether a contributor is an author, not a group's member, an editor or similar."""
    is_group = contributor.find("{*}collab") is not None or contributor.find("{*}collab-alternatives") is not None
    return is_author_type(
        contributor.get("contrib-type"), contributor.getparent().get("content-type"), is_group=is_group
    )


def _read_author(contributor: Any) -> Author | None:
    """Return the person or group of a contributor."""
    forms = (contributor.iterfind(f"{{*}}{name}") for name in ("name-alternatives", "collab-alternatives"))
    for place in (contributor, *(sorted(form, key=_is_foreign) for found in forms for form in found)):
        for child in place:
            kind = local_name(child)
            if kind == "name":
                return make_author(
                    *(read_plain_text(child.find(f"{{*}}{part}")) for part in ("given-names", "surname", "suffix"))
                )
            if kind == "string-name":
                return read_string_name(child)
            if kind == "collab":
                return make_group(read_group_name(child))
    return None


def _is_foreign(form: Any) -> bool:
    """Return whether a form of a name is in another language than the article."""
    article = next(form.iterancestors("{*}article"), None)
    language = "" if article is None else (article.get(LANGUAGE) or "")[:2]
    return bool(language) and not (form.get(LANGUAGE) or "").startswith(language)


def read_string_name(element: Any) -> Author | None:
    """Return the author of a `string-name`, whose parts may be tagged or not."""
    surname, given, suffix = (
        extract_text(element.find(f"{{*}}{part}")) for part in ("surname", "given-names", "suffix")
    )
    if not surname:
        return parse_name(extract_text(element))
    if not given:
        rest = "".join(element.itertext()).partition(element.find("{*}surname").text or surname)[0]
        given = " ".join(word for word in rest.split() if not is_title(word)).strip(" ,")
    return make_author(given, surname, suffix)


def read_group_name(collab: Any) -> str:
    """Return the name of a group author without its members, addresses and notes."""
    return " ".join("".join(iter_text(collab, _NOT_GROUP_NAME)).split()).strip(" ,;:")


def _affiliation(aff: Any) -> tuple[str, str]:
    """Return the printed name, without its mark and addresses, and the ROR id."""
    pieces: list[str] = []
    original = aff.find("{*}institution[@content-type='original']")  # SciELO repeats its parts
    given, aff = aff, original if original is not None else aff

    def add(element: Any) -> None:
        if local_name(element) not in _NOT_AFFILIATION:
            pieces.append(element.text or "")
            for child in element:
                add(child)
                pieces.append(child.tail or "")
            pieces.append(" ")

    add(aff)
    ids = " ".join(extract_text(identifier) for identifier in given.iter("{*}institution-id"))
    return re.sub(r"\s+([,;.])", r"\1", " ".join("".join(pieces).split())), ids


def _read_date(meta: Any) -> PlainDate:
    """Return the best date of publication: electronic before print, in any order."""
    found: dict[int, PlainDate] = {}
    for element in meta.iterfind("{*}pub-date"):
        rank = rank_date(element.get("pub-type") or element.get("date-type"), element.get("publication-format"))
        date = join_date(*(extract_text(element.find(f"{{*}}{part}")) for part in ("year", "month", "day")))
        date = (
            date
            if date[0]
            else parse_date(element.get("iso-8601-date") or extract_text(element.find("{*}string-date")))
        )
        if rank is not None and date[0]:
            found.setdefault(rank, date)
    return found[min(found)] if found else NO_DATE


def _read_subjects(meta: Any) -> list[str]:
    """Return all subjects, broader before narrower, without kinds of articles ("Research Article") and shelf marks."""
    return [
        text
        for subject in meta.iterfind("{*}article-categories//{*}subject")
        if (text := extract_text(subject)) and not text.isdecimal()
        if not _ARTICLE_TYPE_WORDS.issuperset(re.findall(r"[a-z]+", text.casefold()))
    ]


def _read_keywords(meta: Any) -> tuple[str, ...]:
    """Return the article's own keywords, each once; not abbreviations, classifications or keywords in another language."""
    own = (article_language(meta) or "en")[:2]
    found: dict[str, None] = {}
    for group in meta.iterfind("{*}kwd-group"):
        language = (group.get(LANGUAGE) or own)[:2]
        if (
            group.get("kwd-group-type") or "author"
        ).casefold() not in _KEYWORD_GROUPS or language.casefold() != own.casefold():
            continue
        for keyword in group.iter("{*}kwd", "{*}compound-kwd", "{*}unstructured-kwd-group"):
            name = local_name(keyword)
            if name == "compound-kwd":
                texts = [": ".join(filter(None, map(extract_text, keyword.iterfind("{*}compound-kwd-part"))))]
            else:
                text = read_plain_text(keyword)
                texts = [text] if name == "kwd" else _KEYWORD_SIGNS.split(text)
            found.update(dict.fromkeys(text[:200] for text in (one.strip(" ,;.") for one in texts) if text))
    return tuple(found)[:MAX_KEYWORDS]


def _read_issns(article: Any) -> tuple[str, ...]:
    """Return the journal's ISSNs with a right check digit, the electronic one first."""
    found = article.findall("{*}front/{*}journal-meta/{*}issn")
    found.sort(
        key=lambda issn: (
            "epub" not in (issn.get("pub-type"), (issn.get("publication-format") or "").replace("electronic", "epub"))
        )
    )
    return clean_issns([extract_text(element) for element in found])


def _read_emails(meta: Any) -> Iterator[str | None]:
    """Yield an e-mail address or None for each author, in the order of `_authors`.

    It is the author's own address, or the address in a correspondence note that only this author references.
    """
    notes = {note.get("id"): note for note in meta.iterfind("{*}author-notes/{*}corresp") if note.get("id")}
    authors = _find_authors(meta)
    referred = [[ref.get("rid") for ref in one.iterfind("{*}xref[@ref-type='corresp']")] for one in authors]
    for author, ids in zip(authors, referred, strict=True):
        given = [*author.iterfind("{*}email"), *author.iterfind("{*}address/{*}email")]
        if not given and len(ids) == 1 and sum(ids[0] in others for others in referred) == 1 and ids[0] in notes:
            given = list(notes[ids[0]].iter("{*}email"))
        addresses = {text for element in given if _EMAIL.fullmatch(text := extract_text(element).strip(" ;,."))}
        yield addresses.pop() if len(addresses) == 1 else None


def _read_license(meta: Any) -> tuple[str | None, bool | None]:
    """Return the license that links and text state together, and whether the article states open access."""
    permissions = meta.find("{*}permissions")
    if permissions is None:
        permissions = meta  # before JATS 1.0, copyright-statement has no parent
    links = [
        link for element in permissions.iter("{*}license", "{*}ext-link", "{*}uri") if (link := element.get(_HREF))
    ]
    links += [extract_text(reference) for reference in permissions.iter("{*}license_ref")]
    words = " ".join(extract_text(element) for element in permissions.iter("{*}license", "{*}copyright-statement"))
    types = [element.get("license-type", "") for element in permissions.iter("{*}license")]
    if license := find_license(" . ".join((*links, *types, words))):
        return license, True
    return None, True if any(kind.casefold().replace("-", "") == "openaccess" for kind in types) else None
