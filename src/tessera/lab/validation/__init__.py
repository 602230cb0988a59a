"""Validation of the simulator: against itself, closed forms, this machine, and invariants.

From the bottom: ``synthetic`` (traces made of formulas, many simulations in one start of the toolchain),
``engine_cases`` and ``engines`` (the engines and an independent Python LRU against each other),
``closed_forms`` (expected values by formula), ``mosaics`` (real runs under mosaics judged) and
``invariants`` (over the pipeline's own cells). :mod:`tessera.lab.chase` has the pointer chases,
:mod:`tessera.lab.clock` this machine's clock.

Every part writes tidy tables to ``results/<config>/validation``; docs/explain/validation.md says what each
shows.
"""
