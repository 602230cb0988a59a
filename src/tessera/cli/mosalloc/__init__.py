"""The commands of ``tessera mosalloc``. Start with :mod:`tessera.cli.mosalloc.group`, which lists all."""
