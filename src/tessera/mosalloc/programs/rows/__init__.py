"""The programs, one file each; :mod:`tessera.mosalloc.programs.registry` registers them."""
