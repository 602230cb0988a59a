"""``tessera numa fragmented``: 2MB pages of a program in fragmented memory (Mitosis Figure 11)."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from tessera.kernel.command_line import accept, say


@click.command()
@accept
@click.option("--workload", "name", default="mitosis-gups", show_default=True, help="Workload in the guest.")
@click.option("--size", "label", default="guest", show_default=True, help="Its size; the guest has 1 GB.")
@click.option(
    "--out", type=click.Path(path_type=Path), required=True, help="Folder for fragmented.csv and logs."
)
def fragmented(accept_series, name, label, out) -> None:
    """Fragment the memory of the data's node, run a program with huge pages on, and count its 2MB pages.

    The first run is a control without fragmentation. The others have an unusable index of order 9 above 0.9,
    without and with compaction by page faults. The exit status is 1 if a run failed.

    \b
    Example (after: tessera build mosalloc workloads):
      ./run tessera numa fragmented --out /tmp/fragmented
    """
    import tempfile

    from tessera.core.tables import frame_rows, print_table
    from tessera.numa.fragmented import fragmented_study
    from tessera.numa.guest_program import ready
    from tessera.results.status import other_rows

    with tempfile.TemporaryDirectory(prefix="tessera-fragmented-") as temporary:
        guest = ready(name, label, Path(temporary), say, accept_series=accept_series)
        table = fragmented_study(guest, out, say)
    shown = table.drop(columns=["workload", "size", "provenance"]).astype(object)
    print_table(**frame_rows(shown.where(shown.notna(), ""), digits=3))
    sys.exit(1 if len(other_rows(table)) else 0)
