"""Threads and energy (OPERA D5.10 chapters 1 and 3): the model of Guz et al., energy of cells, L3, RAPL.

From the bottom: ``sourced_values`` (files whose values have sources), ``power`` (constants, and fits of
them); ``guz_model`` (equations E1 to E7); ``cell_energy`` (E8, E9); ``l3_sweep`` (hit rates by size of L3);
``thread_runs`` and ``thread_measurement`` (runs on a machine). docs/explain/energy.md has the equations;
start with ``cell_energy`` and it.
"""
