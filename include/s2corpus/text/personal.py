"""Find personal data in a text: e-mail addresses, phone numbers and IP addresses.

Regular expressions find candidates. Libraries validate them: email-validator (syntax, no special-use domain), phonenumbers (a number
that its country can assign; only numbers with `+` and a country code), ipaddress (a global address). Four numbers below 32 with
points between them are considered a section number (3.2.1.4). One or two numbers with `::` are considered the name of a gene construct
(`syd-2::GFP`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Literal

import email_validator
import phonenumbers

MASKS = {
    "num_emails": "|||EMAIL_ADDRESS|||",
    "num_phone_numbers": "|||PHONE_NUMBER|||",
    "num_ip_addresses": "|||IP_ADDRESS|||",
}
"""kind → text that replaces the masked place (Dolma, arXiv:2402.00159)"""
NAMES = tuple(MASKS)
"""names of the counts; they count occurrences, not distinct values"""

_LOCAL = re.compile(r"[A-Za-z0-9._%+-]{1,64}\Z")
_DOMAIN = re.compile(r"[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}")
_PHONE = re.compile(r"\+[\d(][\d ().\-/\u2010\u2011\u2013\xa0]{6,24}")
_IPV4 = re.compile(r"(?<![\w.])\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(?!\w|\.\d)")
_COLONS = re.compile(r":[0-9A-Fa-f]{0,4}:")
_IPV6 = re.compile(r"(?<![\w:])[0-9A-Fa-f:]{2,39}(?![\w:])")
_MAX_SECTION_NUMBER = 32
_MIN_IPV6_GROUPS = 3


@dataclass(frozen=True, slots=True)
class TextSpan:
    """A place in a text: code points from `start` to `end`."""

    start: int
    end: int
    kind: Literal["num_emails", "num_phone_numbers", "num_ip_addresses"]


def find_personal_data(text: str) -> list[TextSpan]:
    """Return all occurrences in order, without overlaps."""
    found: list[TextSpan] = []
    for place in sorted((*_emails(text), *_phones(text), *_ip_addresses(text)), key=lambda p: (p.start, -p.end)):
        if not found or found[-1].end <= place.start:
            found.append(place)
    return found


def count_personal_data(text: str) -> dict[str, int]:
    """Return the number of occurrences of each kind in `NAMES`, including masked ones."""
    kinds = [place.kind for place in find_personal_data(text)]
    return {name: sum(kind == name for kind in kinds) + text.count(MASKS[name]) for name in NAMES}


def _emails(text: str) -> Iterator[TextSpan]:
    at = text.find("@")
    while at >= 0:
        local = _LOCAL.search(text, max(0, at - 64), at)
        domain = _DOMAIN.match(text, at + 1)
        if local and domain:
            try:
                email_validator.validate_email(text[local.start() : domain.end()], check_deliverability=False)
                yield TextSpan(local.start(), domain.end(), "num_emails")
            except email_validator.EmailNotValidError:
                pass
        at = text.find("@", at + 1)


def _phones(text: str) -> Iterator[TextSpan]:
    for candidate in _PHONE.finditer(text):
        for match in phonenumbers.PhoneNumberMatcher(candidate.group(), None):
            yield TextSpan(candidate.start(), candidate.start() + match.end, "num_phone_numbers")


def _ip_addresses(text: str) -> Iterator[TextSpan]:
    for candidate in _IPV4.finditer(text):
        if max(map(int, candidate.group().split("."))) >= _MAX_SECTION_NUMBER and _is_global(candidate.group()):
            yield TextSpan(*candidate.span(), "num_ip_addresses")
    end_of_last = 0
    for colons in _COLONS.finditer(text):
        if colons.start() >= end_of_last:
            matches = _IPV6.finditer(text, max(0, colons.start() - 4), colons.start() + 39)
            match = next((m for m in matches if m.end() > colons.start()), None)
            groups = match.group().replace("::", ":").strip(":").count(":") + 1 if match else 0
            if match and groups >= _MIN_IPV6_GROUPS and _is_global(match.group()):
                end_of_last = match.end()
                yield TextSpan(*match.span(), "num_ip_addresses")


def _is_global(text: str) -> bool:
    try:
        return ip_address(text).is_global
    except ValueError:
        return False
