"""Datasets that are made of a published snapshot: one file a dataset behind one protocol, `protocol.Dataset`."""
