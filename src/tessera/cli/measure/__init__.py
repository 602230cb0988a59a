"""Commands of ``tessera measure``. Start with :mod:`tessera.cli.measure.group`."""
