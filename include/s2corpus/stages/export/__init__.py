"""Run the export stage in two rounds.

Round 0 sends the citations of each bucket of papers to the groups of files that contain the cited papers. Round 1 writes the files,
each from its own buckets and those citations. The bytes of a file depend only on the tables of the release, not on the shards.
Unchanged existing files are not written again, and a published snapshot is never changed.
"""

from __future__ import annotations

import logging
import tempfile
from functools import partial
from math import gcd
from pathlib import Path

import numpy as np

from s2corpus.pipeline.run import Metrics, Run, Shard, Stage
from s2corpus.snapshot.rows import CITATIONS, group_by_cited, read_counted_citations
from s2corpus.stages.export.files import write_documents, write_graph, write_papers
from s2corpus.stages.export.group import ExportGroup, list_groups, open_store
from s2corpus.stages.export.whole import describe
from s2corpus.storage.by_paper import ByPaper
from s2corpus.storage.exchange import covered_shards, spread
from s2corpus.tables.schema import paper_shard
from s2corpus.tables.texts import CONTEXTS, LINKS

log = logging.getLogger(__name__)
_EXCHANGE, _CITATIONS = "_citations", "citations"
_MAX_SENDERS = 256
"""maximum number of shards that send citations, and of files that a group opens"""


class ExportStage(Stage):
    """The export stage. It writes `snapshots/<id>/`, and its receipts to `releases/<release>/_export/<id>/`."""

    name = "export"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Send the citations of some buckets (round 0), or write groups of files (round 1)."""
        (self._send_citations, self._write_files)[round](run, shard)

    def _send_citations(self, run: Run, shard: Shard) -> None:
        senders, receivers = spread(run.paper_shards, _MAX_SENDERS), _receivers(run)
        if shard.index not in senders:
            return
        task = senders.index(shard.index)
        with run.exchange(_EXCHANGE).writer(_CITATIONS, task, receivers, CITATIONS, run.scratch) as writer:
            for bucket in covered_shards(senders, shard.index):
                pairs = read_counted_citations(run.table, bucket)
                cited = (paper_shard(paper_id, receivers) for paper_id in pairs["cited_paper_id"].to_pylist())
                writer.add(pairs, np.fromiter(cited, np.int64, len(pairs)))

    def _write_files(self, run: Run, shard: Shard) -> None:
        """Write the missing files of the groups of this shard, which may have no group."""
        groups = list_groups(run)
        begin, end = (-(-index * len(groups) // run.paper_shards) for index in (shard.index, shard.index + 1))
        for numbers, corpus_numbers, buckets in groups[begin:end]:
            group = ExportGroup(run, numbers, corpus_numbers, buckets)
            with tempfile.TemporaryDirectory(prefix="s2corpus-export-", dir=run.scratch) as scratch:
                if numbers:
                    for set_ in run.spec.clean.sets:
                        write_documents(group, set_, Path(scratch))
                        log.info("export shard %d: documents of %s written", shard.index, set_)
                write_papers(group, partial(_citations, run, buckets.start), Path(scratch))
                log.info("export shard %d: %s written", shard.index, "corpus" if corpus_numbers else "tables")
                for table in (LINKS, CONTEXTS) if numbers else ():
                    write_graph(group, table, Path(scratch))

    def finish(self, run: Run) -> Metrics:
        """Write the files about the complete snapshot, then the manifest."""
        with tempfile.TemporaryDirectory(prefix="s2corpus-export-", dir=run.scratch) as scratch:
            metrics = describe(run, open_store(run), Path(scratch))
        run.exchange(_EXCHANGE).remove()
        return metrics


def _receivers(run: Run) -> int:
    """Return the number of groups of corpus files."""
    return gcd(run.paper_shards, run.file_counts[1])


def _citations(run: Run, group: int) -> ByPaper[dict[str, str]]:
    tasks = range(len(spread(run.paper_shards, _MAX_SENDERS)))
    return group_by_cited(run.exchange(_EXCHANGE).read(_CITATIONS, tasks, group, CITATIONS))
