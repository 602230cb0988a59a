"""Logs of ``perf stat`` that were recorded elsewhere, as measured cells (docs/measure.md).

From the bottom: :mod:`files` (which run a log belongs to), :mod:`totals` (a log's counts, checked),
:mod:`mode` (user mode, or kernel too), and :mod:`logs` (all of it). The arithmetic from counts to rows of a
cells file is that of bundles (:mod:`tessera.bundles.numbers`, :mod:`tessera.bundles.rows`).
"""
