"""The stages of a release, one file or one package each; their order is in `pipeline.stages`."""
