"""Evaluators, a file per family; :mod:`tessera.judge.claims.registry` has their contract."""
