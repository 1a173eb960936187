"""Flat tables contain the citations of captions and cells."""

from __future__ import annotations

import pyarrow as pa

from s2corpus.snapshot import flat
from s2orc_parse import tei
from tests.unit.latex.archives import ENTRIES, parse


def test_flat_entries_have_citations_of_cells() -> None:
    found = parse(
        r"Text. \begin{table}\caption{As \citet{lo}}\begin{tabular}{ll}A & \citep{doe}\\B & C\end{tabular}\end{table}",
        r"\usepackage{natbib}",
        entries=ENTRIES,
    )
    ((row, _),) = flat._ref_entries(tei.to_s2orc(found)["ref_entries"])
    key = {"paper_id": "p", "parse_kind": "latex"}
    ((read,),) = [pa.Table.from_pylist([key | row], schema=flat.SCHEMAS["ref_entries"]).to_pylist()]
    assert read["cite_spans"] == [{"start": 3, "end": 21, "text": "Lo and Wang (2020)", "ref_id": "BIBREF0"}]
    assert read["cell_cite_spans"] == [
        {"row": 0, "column": 1, "start": 1, "end": 10, "text": "Doe, 2001", "ref_id": "BIBREF2"}
    ]
