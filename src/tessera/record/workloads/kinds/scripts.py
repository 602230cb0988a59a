"""``kind: scripts``: a folder of an existing Mosmodel benchmark, unmodified.

Contract: Tessera copies the folder. In the copy, ``pre_run.sh`` prepares the run, ``run.sh`` is the run, and
``post_run.sh`` checks the result (older benchmarks call them ``warmup.sh`` and ``validate.sh``). The number
of threads is in ``OMP_NUM_THREADS``. ``executable`` is the program that ``run.sh`` starts, which gets the
layout (the shell does not): a path, absolute or in the folder. ``args`` is the folder.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import HostToolchain
from tessera.machine.container.watchdog import watchdog
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.kinds.program import program_path, visible
from tessera.record.workloads.program_run import HOST, Finished, ProgramRun

PRE, RUN, POST = (
    ("pre_run.sh", "prerun.sh", "warmup.sh"),
    "run.sh",
    ("post_run.sh", "postrun.sh", "validate.sh"),
)
_MADE_BY_US = ".tessera-copy"


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """A fresh copy of the benchmark's folder, in which ``pre_run.sh`` has run."""
    if len(size.args) != 1:
        raise TesseraError(
            f"{workload.name}, size {size.label}",
            f"args must be one folder, but has {len(size.args)} words",
            "give the folder of the scripts",
        )
    source = benchmark(Path(size.args[0]))
    _copy(source, folder)
    environment = environment_of(folder)
    if script := _script(folder, PRE):
        _call(script, folder, environment)
    target = program_path(
        str(folder / workload.executable) if (folder / workload.executable).exists() else workload.executable
    )
    return ProgramRun(
        argv=("bash", RUN),
        paths=() if target.is_relative_to(folder) else visible((str(target),)),
        environment=environment,
        folder=folder,
        image=HOST,
        target=str(target),
        threads=bool(workload.threads),
        verify=lambda done: _verified(workload.name, environment, done),
    )


def benchmark(source: Path) -> Path:
    """The folder, checked to hold a run.sh."""
    if not (source / RUN).is_file():
        raise TesseraError(
            f"benchmark folder {source}",
            f"the folder has no {RUN}",
            f"a benchmark consists of {PRE[0]}, {RUN} and {POST[0]}",
        )
    return source.absolute()


def environment_of(folder: Path) -> dict[str, str]:
    """The environment variables that the benchmarks' scripts get."""
    return {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1", "MOSMODEL_RUN_OUT_DIR": str(folder)}


def _copy(source: Path, folder: Path) -> None:
    """Copy after removing an earlier copy; a folder with other files is left as it is and rejected."""
    if any(folder.iterdir()) and not (folder / _MADE_BY_US).exists():
        raise TesseraError(
            f"run folder {folder}",
            "the folder contains files that Tessera did not make",
            "give an empty folder",
            code="folder-not-empty",
        )
    for old in folder.iterdir():
        if old.is_dir() and not old.is_symlink():
            shutil.rmtree(old)
        else:
            old.unlink()
    shutil.copytree(source, folder, symlinks=True, dirs_exist_ok=True)
    (folder / _MADE_BY_US).touch()


def _script(folder: Path, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if (folder / name).is_file()), None)


def _call(script: str, folder: Path, environment: dict[str, str]) -> None:
    """Run a script on this machine, in the copy; its output is in the error if it fails."""
    process = HostToolchain().popen(
        ["bash", script],
        env=environment,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    asked = f"{script} of {folder}"
    with stopped_at_exit(process), watchdog(process, asked, lambda: None):
        output = process.communicate()[0]
    if process.returncode != 0:
        tail = "\n".join(output.strip().splitlines()[-5:])
        raise TesseraError(
            asked,
            f"the script exited with status {process.returncode}" + (f":\n{tail}" if tail else ""),
            "run the script by hand in that folder; no trace is kept of a run that fails",
            exit_code=EXIT_FAILED,
        )


def _verified(name: str, environment: dict[str, str], done: Finished) -> dict:
    script = _script(done.folder, POST)
    if script:
        _call(script, done.folder, environment)
    return {
        "workload": name,
        "verified": True,
        "verified_by": script or f"exit status: there is no {POST[0]}",
    }
