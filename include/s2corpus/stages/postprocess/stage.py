"""Convert extractors' responses, LaTeX sources and publishers' full texts to S2ORC parses (S2ORC §2.1, §2.2; SPEC §3)."""

from __future__ import annotations

from s2corpus.pipeline.run import Metrics, PdfStage, Run, Shard, commit_all, count_outcomes
from s2corpus.stages.postprocess import articles, latex_sources, pdfs
from s2corpus.tables.parses import ARTICLE_PARSES, LATEX_PARSES, PARSES, PDF_RECORDS
from s2orc_parse import jats


class PostprocessStage(PdfStage):
    """The postprocess stage. It writes parses of PDFs, LaTeX sources and publishers' full texts, and records of PDF headers."""

    name = "postprocess"

    def work(self, run: Run, shard: Shard, round: int = 0) -> None:
        """Convert new inputs, then list the shard's parses and headers."""
        parses, records = pdfs.convert_pdfs(run, shard.index)
        run.table(PARSES).write(shard.index, parses)
        run.table(PDF_RECORDS).write(shard.index, records)
        run.table(LATEX_PARSES).write(shard.index, latex_sources.convert_latex_sources(run, shard.index))
        run.table(ARTICLE_PARSES).write(shard.index, articles.convert_articles(run, shard.index))

    def finish(self, run: Run) -> Metrics:
        """Commit the tables; return metrics with the parses by outcome and citation style."""
        for_articles = ",".join(f"{kind}-{version}" for kind, version in jats.VERSIONS.items())
        for_pdfs = pdfs.format_converter(pdfs.load_adapter(run))
        converters = f"{for_pdfs};{','.join(latex_sources.latex_key())};{for_articles}"
        commit_all(run, self.name, run.pdf_shards, {"converter": converters})
        return {
            **count_outcomes(run, PARSES),
            **count_outcomes(run, PARSES, "citation_style"),
            **{f"latex.{name}": value for name, value in count_outcomes(run, LATEX_PARSES).items()},
            **{f"article.{name}": value for name, value in count_outcomes(run, ARTICLE_PARSES).items()},
        }
