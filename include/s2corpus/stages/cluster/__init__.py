"""Cluster: records to papers, on one machine or in Spark (S2ORC §2.3)."""

from s2corpus.stages.cluster.stage import ClusterStage

__all__ = ["ClusterStage"]
