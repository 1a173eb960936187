"""Export, the stage: which files a task writes, and what is written last.

A file's bytes depend on the release's tables only, not on how the work was cut. What is already there with its checksum is not
written again; a snapshot that was ever pointed at is never changed. Two rounds: first buckets of papers say whom they cite, then the
files are written, each from its own buckets and those citations.
"""

from __future__ import annotations

import logging
import tempfile
from functools import partial
from math import gcd
from pathlib import Path

import numpy as np

from s2corpus.pipeline.run import Metrics, Run, Shard, list_paper_shards
from s2corpus.snapshot.rows import CITATIONS, group_by_cited, read_counted_citations
from s2corpus.stages.export.files import write_graph, write_papers
from s2corpus.stages.export.group import Group, groups, store_of
from s2corpus.stages.export.texts import write_documents
from s2corpus.stages.export.whole import describe
from s2corpus.storage.by_paper import ByPaper
from s2corpus.storage.exchange import Exchange, spread
from s2corpus.tables import CONTEXTS, LINKS, paper_shard

log = logging.getLogger(__name__)
_CITATIONS = "citations"
_SENDERS = 256
"""Files of citations that a group of files opens, at most."""


class Export:
    """Every table a snapshot shows → `snapshots/<id>/`; its own bookkeeping → `releases/<release>/_export/<id>/`."""

    name = "export"

    def plan(self, run: Run, round: int = 0) -> list[Shard]:
        """A shard for each bucket of papers, in both rounds."""
        return list_paper_shards(run)

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Send the citations of some buckets; then write groups of files."""
        (self._send_citations, self._write_files)[round](run, shard)

    def _send_citations(self, run: Run, shard: Shard) -> None:
        """Send whom the papers of some buckets cite to the groups of files that the cited are in."""
        senders, receivers = spread(run.paper_shards, _SENDERS), _receivers(run)
        if shard.index not in senders:
            return
        task = senders.index(shard.index)
        with _exchange(run).writer(_CITATIONS, task, receivers, CITATIONS, run.scratch) as writer:
            for bucket in range(shard.index, min(shard.index + senders.step, run.paper_shards)):
                pairs = read_counted_citations(run.table, bucket, run.spec.link.count_warnings)
                cited = (paper_shard(paper_id, receivers) for paper_id in pairs["cited_paper_id"].to_pylist())
                writer.add(pairs, np.fromiter(cited, np.int64, len(pairs)))

    def _write_files(self, run: Run, shard: Shard) -> None:
        """Write what is missing of the groups of files that this shard has: where there are more shards than groups, most have none."""
        found = groups(run)
        begin, end = (-(-at * len(found) // run.paper_shards) for at in (shard.index, shard.index + 1))
        for numbers, corpus_numbers, buckets in found[begin:end]:
            group = Group(run, numbers, corpus_numbers, buckets)
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
        """Write what describes the whole snapshot, then the manifest."""
        store = store_of(run)
        with tempfile.TemporaryDirectory(prefix="s2corpus-export-", dir=run.scratch) as scratch:
            metrics = describe(run, store, Path(scratch))
        _exchange(run).remove()
        return metrics


def _exchange(run: Run) -> Exchange:
    return Exchange(run.lake.root, f"{run.folder}/_citations")


def _receivers(run: Run) -> int:
    """How many groups of files of the corpus there are."""
    return gcd(run.paper_shards, run.spec.export.of_corpus)


def _citations(run: Run, group: int) -> ByPaper[dict[str, str]]:
    """Who cites the papers of a group of files of the corpus."""
    tasks = range(len(spread(run.paper_shards, _SENDERS)))
    return group_by_cited(_exchange(run).read(_CITATIONS, tasks, group, CITATIONS))
