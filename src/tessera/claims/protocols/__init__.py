"""Protocols, a file per family; :mod:`tessera.claims.registry` has their contract."""
