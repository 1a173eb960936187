"""Export, the stage: which files a task writes, and what is written last.

A file's bytes depend on the release's tables only, not on how the work was cut. What is already there with its checksum is not
written again; a snapshot that was ever pointed at is never changed.
"""

from __future__ import annotations

import logging
import math
import tempfile
from pathlib import Path

from s2corpus.pipeline.run import Metrics, Run, Shard
from s2corpus.stages.export.files import write_corpus, write_graph
from s2corpus.stages.export.group import READS, Group, store_of
from s2corpus.stages.export.texts import write_documents
from s2corpus.stages.export.whole import describe
from s2corpus.tables import CONTEXTS, LINKS, Table

log = logging.getLogger(__name__)


class Export:
    """Every table a snapshot shows → `snapshots/<id>/`; its own bookkeeping → `releases/<release>/_export/<id>/`."""

    name = "export"
    reads = READS
    writes: tuple[Table, ...] = ()

    def plan(self, run: Run) -> list[Shard]:
        """A shard for each group of files that share no bucket of papers with another group."""
        export = run.spec.export
        return [Shard(i) for i in range(math.gcd(run.paper_shards, export.files, export.of_corpus))]

    def work(self, run: Run, shard: Shard) -> None:
        """Write the files of one group that are not there yet."""
        group = Group(run, shard.index, len(self.plan(run)))
        with tempfile.TemporaryDirectory(prefix="s2corpus-export-", dir=run.scratch) as scratch:
            for set_ in run.spec.clean.sets:
                write_documents(group, set_, Path(scratch))
                log.info("export shard %d: documents of %s written", shard.index, set_)
            write_corpus(group, Path(scratch))
            log.info("export shard %d: corpus written", shard.index)
            for table in (LINKS, CONTEXTS):
                write_graph(group, table, Path(scratch))

    def finish(self, run: Run) -> Metrics:
        """Write what describes the whole snapshot, then the manifest."""
        store = store_of(run)
        with tempfile.TemporaryDirectory(prefix="s2corpus-export-", dir=run.scratch) as scratch:
            return describe(run, store, Path(scratch))
