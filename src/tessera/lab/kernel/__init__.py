"""The kernel with replicated page tables: build it, boot it in QEMU, look at its page tables.

From the bottom: :mod:`qemu` (the machine, its serial port and monitor), :mod:`page_tables` (walked from
outside), :mod:`guest` (one run of a script), :mod:`build_tools`, :mod:`source` and :mod:`image` (the build),
:mod:`patch_tests` and :mod:`third_party_tests`, :mod:`placement_experiments` and
:mod:`cost_experiments`.
"""

#: makes all parts of a run's kernel results again that are missing
ALL_PARTS = "snakemake --cores all kernel"
