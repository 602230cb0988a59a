"""Real runs on this machine under real mosaics of pages: hybrid cells.

From the bottom: :mod:`identity` (what a run depends on), :mod:`log` (finished runs, survive kill -9),
:mod:`start` (a program under a layout), :mod:`rounds` (order and stopping rule), :mod:`counted` (runs, turns
and bundles), :mod:`journal` (of runs without counters), :mod:`table` (cells and comparison) and
:mod:`experiment` (all of it). :mod:`program` measures any program, and :mod:`imported` reads logs.

Clock time is measured; H, M and C of these cells are simulated (this machine need not have counters). They
decide no claim about models: only relative differences between layouts are compared.
"""

from tessera.measure.experiment import Experiment, run_host

__all__ = ["Experiment", "run_host"]
