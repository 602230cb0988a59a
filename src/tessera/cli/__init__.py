"""The ``tessera`` command line: one lazily imported module per command."""
