"""Evaluators of claims, a file per family; :mod:`tessera.report.claims.registry` has their contract."""
