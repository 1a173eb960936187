"""Tools for a checkout: the sample generator, the training of the extractor, benchmarks and local services. Never part of a wheel."""
