"""Commands of ``tessera measure`` and ``tessera host``; :mod:`tessera.cli.measure.group` registers them."""
