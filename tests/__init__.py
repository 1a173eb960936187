"""Check the packages, the DAGs and the plugins."""
