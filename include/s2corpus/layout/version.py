"""The extractor's version: raised whenever its answer to some PDF changes."""

VERSION = "0.8.0"
