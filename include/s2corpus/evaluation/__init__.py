"""The evaluation of S2ORC §4: samples of a release, automatic first marks, people's marks, accuracy with intervals."""
