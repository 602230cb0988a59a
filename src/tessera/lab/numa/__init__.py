"""Where page tables lie, and what this costs on a machine with several sockets (Mitosis, ASPLOS 2020).

From the bottom: ``placement_costs`` (the machine, the hog, Table 2 and the closed form); ``placement_map``
and ``map_rules`` (the node of each page, and maps by rule); ``archive``, ``arithmetic`` and ``defects``
(archived measurements); ``predicted_costs`` (the form on simulated cells); ``gups``, ``placement_study`` and
``program_study`` (simulated placements); ``mitosis_figures`` (beside the paper's bars); ``guest_map``,
``guest_map_study`` and ``fragmented_memory`` (a guest with our kernel). docs/explain/numa.md is the page;
start with ``placement_costs``.
"""
