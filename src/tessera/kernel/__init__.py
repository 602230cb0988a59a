"""The kernel with replicated page tables: build it, boot it in QEMU, look at its page tables.

From the bottom: :mod:`archive` (initramfs format), :mod:`machine` (QEMU's command line), :mod:`channel`
(talk to the guest), :mod:`monitor` (QEMU's monitor), :mod:`guest` (one run of a script), :mod:`walker` (page
tables seen from outside), :mod:`placement` (tables of where they lie), :mod:`image` (build and cache),
:mod:`proof`, :mod:`bisect`, :mod:`experiments` and :mod:`cli`.
"""

#: makes all parts of a run's kernel results again that are missing
ALL_PARTS = "snakemake --cores all kernel"
