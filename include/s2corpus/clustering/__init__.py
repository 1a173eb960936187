"""Cluster records: find the records of the same paper, and assign paper ids that are stable across releases."""
