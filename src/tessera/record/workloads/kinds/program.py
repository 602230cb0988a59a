"""``kind: program``: a program of the user's on this machine, as ``tessera workload add`` writes it down.

``executable`` is its path, ``args`` its arguments; files among them are visible in containers, too. If the
last line of its output is a JSON object with ``verified``, Tessera checks that; otherwise it checks only the
exit status.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import repo_root
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import HOST, Finished, ProgramRun, last_line_json

#: Files below these are the image's own, or are staged with the program.
_SYSTEM = tuple(
    Path(name) for name in ("/bin", "/dev", "/etc", "/lib", "/lib64", "/proc", "/sbin", "/sys", "/usr")
)


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """The program, to be run in a separate folder."""
    return ProgramRun(
        argv=(str(program_path(workload.executable)), *size.args),
        paths=visible(size.args),
        folder=folder,
        image=HOST,
        threads=bool(workload.threads),
        verify=lambda done: verified(workload.name, done),
    )


def program_path(name: str) -> Path:
    """The program's path; an error if it has gone."""
    found = shutil.which(name)
    if found is None:
        raise TesseraError(
            f"program '{name}'",
            "this machine does not have the program",
            "give the path of the program or a name on $PATH, or add the workload again",
        )
    return Path(found).absolute()


def visible(words: tuple[str, ...]) -> tuple[Path, ...]:
    """Those of the words that are files or folders outside the checkout and the system's folders."""
    paths = [Path(word) for word in words if word.startswith("/") and Path(word).exists()]
    ours = (*_SYSTEM, repo_root())
    return tuple(
        path for path in paths if path != Path("/") and not any(path.is_relative_to(top) for top in ours)
    )


def verified(name: str, done: Finished) -> dict:
    """The program's JSON line if it prints one, otherwise that it exited with status 0."""
    lines = done.stdout.strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else None
    except ValueError:
        answer = None
    if isinstance(answer, dict) and "verified" in answer:
        return last_line_json(done)
    return {"workload": name, "verified": True, "verified_by": "exit status"}
