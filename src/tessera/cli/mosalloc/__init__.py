"""The commands of ``tessera mosalloc``, one file each; :mod:`tessera.cli.mosalloc.group` registers them."""
