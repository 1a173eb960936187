"""Load the CRFs, and label the lines of a document."""
