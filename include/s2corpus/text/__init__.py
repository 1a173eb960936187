"""Text functions: language, log probability, words, the layout of `text`, the cleaning decision, the split."""

from pdf2tei.language import language as identify_language
from s2corpus.text.language import english_probability, english_share
from s2corpus.text.unigrams import Unigrams, log_probabilities, log_probability
from s2corpus.text.words import top_word

language = identify_language  # after the import of the module with this name

__all__ = [
    "Unigrams",
    "english_probability",
    "english_share",
    "language",
    "log_probabilities",
    "log_probability",
    "top_word",
]
