"""Validation of the simulator: against itself, closed forms, this machine, and invariants.

From the bottom: :mod:`synthetic` (traces made of formulas, many simulations in one start of the toolchain),
:mod:`engines` (the engines and an independent Python LRU against each other), :mod:`closed_forms` (expected
values by formula), :mod:`chase` (pointer chases on this machine and simulated, steps, calibration),
:mod:`mosaics` (real runs under mosaics judged), :mod:`invariants` (over the pipeline's own cells), and
:mod:`cli`.

Every part writes tidy tables to ``results/<config>/validation``; docs/validation.md says what each shows.
"""
