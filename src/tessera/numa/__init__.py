"""Where page tables lie, and what this costs on a machine with several sockets (Mitosis, ASPLOS 2020).

Bottom to top: ``machine`` (published latencies and rates), ``queue`` (the wait behind a bandwidth hog),
``placement`` (Table 2), ``costs`` (the closed form), ``predict`` (the form on simulated cells), ``gups`` and
``gups_trace`` (updates of a table of any size), ``variants`` and ``study`` (these under every placement),
``maps``, ``map_file`` and ``map_compare`` (the node of each page and page table), ``policies``, ``expected``
(maps by rule), ``guest_view`` and ``guest_map`` (maps of a guest with our kernel), ``sockets`` (threads on
several sockets), ``archive``, ``bars``, ``arithmetic`` and ``defects`` (the archived measurements).
docs/numa.md is the page.
"""
