"""The extractor's name and version. Increase the version if the output for any PDF changes."""

NAME = "s2corpus-layout"
VERSION = "0.34.0"
