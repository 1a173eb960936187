"""Process text: identify languages, count words, build the layout of documents, clean and split them."""
