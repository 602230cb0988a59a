"""The kernel with replicated page tables: build it, boot it in QEMU, look at its page tables.

From the bottom: ``qemu`` (the machine, its serial port and monitor); ``page_tables`` (walked from outside);
``guest`` (one run of a script); ``build_tools``, ``source`` and ``image`` (the build); ``patch_tests``,
``mutants``, ``debug_kernels`` and ``third_party_tests``; ``placement_experiments`` and ``cost_experiments``.
docs/explain/kernel.md is the page; start with ``guest``.
"""

#: makes all parts of a run's kernel results again that are missing
ALL_PARTS = "snakemake --cores all kernel"
