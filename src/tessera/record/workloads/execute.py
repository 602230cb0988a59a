"""Run a workload once in its image without tracing, to inspect it and to time it natively."""

from __future__ import annotations

import subprocess

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container import RunOptions
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import HostToolchain, Toolchain, toolchain
from tessera.record.traces.companion import beside
from tessera.record.traces.passing import communicate
from tessera.record.workloads.run import HOST, Finished, Run
from tessera.record.workloads.tracing import installed

#: Key of a kernel's result: clock time of its region of interest.
ROI_NS = "roi_ns"


def image_of(run: Run) -> Toolchain:
    """Where the program is installed."""
    if run.image == HOST:
        return HostToolchain()
    return installed(run.image) or toolchain()


def execute(run: Run, folder, *, show_stdout: bool = False) -> tuple[Finished, dict]:
    """Run the program (and its companion) to its end and verify the result.

    Args:
        folder: what :func:`tessera.record.workloads.prepare` was given.

    Raises:
        TesseraError: it ended with another status than 0, or its verifier refused the result.
    """
    argv = ["env", "-C", str(run.folder), *run.argv] if run.folder else list(run.argv)
    process = image_of(run).popen(
        argv,
        [folder, *run.paths],
        dict(run.environment),
        options=RunOptions(network="host") if run.companion else None,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    with stopped_at_exit(process), beside(process, run.companion):
        stdout, stderr = communicate(process, show_stdout)
    done = Finished(process.returncode, stdout, stderr, folder)
    if done.returncode != 0 and run.companion is None:  # a server is ended by its companion, and by a signal
        tail = "\n".join(stderr.strip().splitlines()[-5:])
        raise TesseraError(
            f"'{' '.join(run.argv)}'",
            f"the program exited with status {done.returncode}" + (f":\n{tail}" if tail else ""),
            "read its messages; status 137 often means that the machine ran out of memory",
            exit_code=EXIT_FAILED,
        )
    return done, run.verify(done)
