"""What every engine gives: programs of the toolchain, run and described.

Contract of :class:`Toolchain`: ``argv`` names the same files on all engines; new files belong to the
caller; a program never outlives the caller; ``describe()`` identifies the compilers and libraries for the
provenance of results.
"""

from __future__ import annotations

import os
import subprocess
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.machine.container.command import RunOptions
from tessera.machine.container.process import stopped_at_exit

Argv = Sequence[str | os.PathLike[str]]


class Toolchain(ABC):
    """Runs components; see the contract of the module."""

    @abstractmethod
    def popen(
        self,
        argv: Argv,
        paths: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
        *,
        options: RunOptions | None = None,
        **keywords,
    ) -> subprocess.Popen:
        """Start ``argv``; ``keywords`` (stdout, stderr, text, ...) are ``subprocess.Popen``'s."""

    @abstractmethod
    def describe(self) -> dict[str, str]:
        """Engine and what it runs on: ``{"engine": ..., "image": ...}`` and the like."""

    def run(
        self,
        argv: Argv,
        paths: Sequence[Path] = (),
        env: Mapping[str, str] | None = None,
        capture: bool = False,
        check: bool = True,
        *,
        options: RunOptions | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """Run ``argv`` until it ends.

        Args:
            paths: files or folders outside the checkout that the program must see.
            env: variables for the program, added to the toolchain's own.
            capture: return standard output and error as text instead of passing them on.
            check: a status other than 0 is a :class:`TesseraError`.
            options: network, capabilities, huge pages.
        """
        pipe = subprocess.PIPE if capture else None
        process = self.popen(argv, paths, env, options=options, stdout=pipe, stderr=pipe, text=True)
        with stopped_at_exit(process):
            out, err = process.communicate()
        if check and process.returncode != 0:
            raise _failure(argv, process.returncode, err)
        return subprocess.CompletedProcess(list(argv), process.returncode, out, err)


def _failure(argv: Argv, status: int, err: str | None) -> TesseraError:
    command = " ".join(os.fspath(argument) for argument in argv)
    if status == 137 or status == -9:
        found = f"the program was killed (status {status}), often because the machine ran out of memory"
        remedy = "free memory or use a smaller size (./run doctor shows RAM)"
    elif status == 127:
        found = "the program was not found (status 127)"
        remedy = "build the components: ./run tessera build"
    else:
        found = f"the program exited with status {status}"
        remedy = "read its messages above"
    tail = "\n".join((err or "").strip().splitlines()[-10:])
    return TesseraError(f"'{command}'", found + (f":\n{tail}" if tail else ""), remedy, exit_code=EXIT_FAILED)
