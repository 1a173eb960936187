"""What runs stages: the registry, the run, the runner, quality, acceptance, alerts, summaries."""
