"""Cluster records: find the records of one paper, and assign paper ids that stay stable over releases."""
