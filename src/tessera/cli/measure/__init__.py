"""Commands of ``tessera measure`` and ``tessera host``. Start with :mod:`tessera.cli.measure.group`."""
