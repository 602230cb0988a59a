"""Real runs on this machine under real mosaics of pages: hybrid cells.

From the bottom: :mod:`identity` (what a run depends on), :mod:`log` (finished runs, survive kill -9),
:mod:`launch` (one run), :mod:`rounds` (order and stopping rule), :mod:`table` (cells and comparison),
:mod:`experiment` (all of it) and :mod:`cli`.

Clock time is measured; H, M and C of these cells are simulated (this machine need not have counters). They
decide no claim about models: only relative differences between layouts are compared.
"""

from tessera.measure.experiment import Experiment, run_host

__all__ = ["Experiment", "run_host"]
