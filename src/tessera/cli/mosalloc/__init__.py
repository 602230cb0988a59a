"""The commands of ``tessera mosalloc``; :mod:`tessera.cli.mosalloc.group` has the first ones, and lists all."""
