"""Run stages: the registry, the run, the runner, quality checks, acceptances, alerts and summaries."""
