"""The parameters of a release's DAG, as the form of Airflow shows them."""

from __future__ import annotations

from airflow.sdk import Param

from s2corpus.rules import MIN_REASON

# No code spans here: in the form's small type they would overlap other lines.
WHICH_RELEASE = (
    "**A single run builds** the release of the last completed interval before the logical date. A monthly spec that "
    "runs at 10:30 on March 15 builds the release of February: it contains data that was ready before March 1, 00:00 UTC. "
    "To build the releases of other intervals, choose *Backfill*."
)


def describe_parameters() -> dict[str, Param]:
    """Return the parameters of a run, for the form and the REST API."""
    return {
        "drops": Param(
            None,
            type=["null", "array"],
            items={"type": "string"},
            title="Drops to use instead of the spec's",
            # With `examples`, the form would offer only these values.
            description_md="Ids of drops, one per line. A pattern with \\* names several. Empty: the drops of the spec.\n\n"
            "*Examples:* 2023-01-\\*, publisher-a-2023-01-15\n\n" + WHICH_RELEASE,
        ),
        "accept": Param(
            None,
            type=["null", "object"],
            additionalProperties={"type": "string", "minLength": MIN_REASON},
            title="Checks to override",
            description_md="Overrides checks that may be overridden. JSON: the name of the check, then the reason that the "
            f"data card will show (at least {MIN_REASON} characters). Empty: no check is overridden.\n\n*Example:* "
            '{"link.drift_of_linked_entries_block": "The January drop contains no bibliographies, see ticket 12."}',
        ),
    }
