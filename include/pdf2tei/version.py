"""The extractor's name, and its version: raised whenever its answer to some PDF changes."""

NAME = "s2corpus-layout"
VERSION = "0.13.0"
