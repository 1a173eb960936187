"""The date decides the split of a document, at its precision (SPEC §9.1–9.4, A.7)."""

from datetime import UTC, date, datetime

import pytest

from s2corpus import spec
from s2corpus.outcomes import Split
from s2corpus.text.splits import assign_recipe_split, assign_split, compute_bounds, date_span

CARD = compute_bounds(spec.SplitRules(), datetime(2023, 2, 1, tzinfo=UTC))


def test_kept_unknown_dates_are_in_train() -> None:
    assert assign_split(None, *CARD, undated=Split.TRAIN) == Split.TRAIN
    with pytest.raises(ValueError, match="valid_until 2022-11-30 is before train_before 2022-12-01"):
        spec.SplitRules(valid_until=date(2022, 11, 30))
    assert spec.SplitRules(valid_until=date(2022, 12, 1))


@pytest.mark.parametrize(
    ("as_of", "first", "last"),
    [
        (datetime(2023, 2, 1, tzinfo=UTC), date(2022, 12, 30), date(2023, 1, 31)),  # 33 days, without as_of
        (datetime(2024, 3, 1, tzinfo=UTC), date(2024, 1, 28), date(2024, 2, 29)),
        (datetime(2023, 2, 1, 12, tzinfo=UTC), date(2022, 12, 31), date(2023, 2, 1)),  # A day that has begun counts.
    ],
)
def test_rolling_split_takes_the_last_33_days(as_of: datetime, first: date, last: date) -> None:
    assert compute_bounds(spec.SplitRules(kind="rolling"), as_of) == (first, last)
    assert (last - first).days + 1 == 33


def test_date_spans_its_day_month_or_year() -> None:
    assert date_span("2020-02-29") == (date(2020, 2, 29), date(2020, 2, 29))
    assert date_span("2020-02") == (date(2020, 2, 1), date(2020, 2, 29))
    assert date_span("2021") == (date(2021, 1, 1), date(2021, 12, 31))


@pytest.mark.parametrize("wrong", ["2021-02-29", "2021-13", "", "0000", "2021-01-01T00:00:00Z"])
def test_malformed_date_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        date_span(wrong)


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ("2024-07-31", Split.TRAIN),
        ("2024-08-01", Split.VALID),
        ("2024-08", Split.VALID),
        ("2024", Split.TRAIN),  # treated as 1 January
        ("2030", Split.VALID),  # no upper bound
    ],
)
def test_recipe_split_has_no_upper_bound(published: str, expected: Split) -> None:
    assert assign_recipe_split(published, date(2024, 8, 1)) == expected
