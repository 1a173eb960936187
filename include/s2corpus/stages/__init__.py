"""The stages of a release, one file each, behind the protocol in `base`."""
