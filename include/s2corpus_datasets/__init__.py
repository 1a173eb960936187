"""Build datasets from a published snapshot: one module or package for each dataset, with the protocol `protocol.Dataset`."""
