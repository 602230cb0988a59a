"""What a run does before its first job: it takes the lock of its results, keeps its configuration, and drops
what failed if it was told to.

Snakemake calls :func:`begin` (``onstart`` of the Snakefile) in the main process of a run that makes
something, and never in a dry run, a listing, or a job of a cluster.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.pipeline.failures import drop, failures
from tessera.pipeline.lock import RunLock

RETRY = "TESSERA_RETRY"  #: `1` in a run that tries again what failed, as `./run` does
RESERVE = "TESSERA_RESERVE"


def begin(results: Path, left_out: Sequence[str] = (), config: Mapping | None = None) -> None:
    """Hold ``results`` until this process ends; with $TESSERA_RETRY=1 drop failures and start over without
    them.

    Which jobs there are was decided before this, so a run that drops something starts again, in this same
    process and with the lock that it holds.

    Args:
        left_out: rows that this machine has too little memory or disk for, with the numbers; said at once.
        config: effective configuration of the run, kept with its provenance.

    Raises:
        SystemExit: another run is at work on ``results``; said so, since Snakemake would add a traceback.
    """
    try:
        RunLock(results).hold()
    except TesseraError as error:
        print(f"tessera: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    if config is not None:
        from tessera.results.provenance import keep_config  # slow to import

        keep_config(results, dict(config))
    for row in left_out:
        print(f"tessera: this row will be left out: {row}", file=sys.stderr)
    if os.environ.get(RETRY) != "1":
        return
    os.environ[RETRY] = "0"  # once is enough
    failed = failures(results, reserve=os.environ.get(RESERVE) == "1")
    if failed:
        drop(results, failed)
        names = ", ".join(str(one.path.relative_to(results)) for one in failed)
        print(f"tessera: trying again what failed: {names}", file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
