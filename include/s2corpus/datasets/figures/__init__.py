"""Figures and tables as images, with their captions and the sentences that mention them."""

from s2corpus.datasets.figures.dataset import Figures as Figures
