"""The commands of ``tessera mosalloc``, one file each; :mod:`tessera.mosalloc.cli` registers them."""
