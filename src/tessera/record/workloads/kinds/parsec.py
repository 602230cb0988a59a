"""``kind: parsec``: a program of the user's own PARSEC 3.0, run as its ``parsecmgmt`` would run it.

``executable`` is the package (``blackscholes``). A size's ``args`` are ``--input simlarge`` (``test``,
``simdev``, ``simsmall``, ``simmedium``, ``native``) and ``--threads N``. A package has
``parsec/<input>.runconf`` (lines ``run_exec="bin/NAME"``, ``run_args="..."`` and ``export NAME=VALUE``, where
``${NTHREADS}`` is the number of threads), ``inst/<build>/`` and ``inputs/input_<input>.tar``. The input is
unpacked into the run's own folder, so nothing is written into the installation. Its outputs have no verifier
here: only the exit status is checked, and the result says so.
"""

from __future__ import annotations

import os
import re
import shlex
import tarfile
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.record.workloads.definition import Size, Workload
from tessera.record.workloads.program_run import HOST, Finished, ProgramRun

VARIABLE = "PARSECDIR"  #: set by PARSEC's env.sh
INPUTS = ("test", "simdev", "simsmall", "simmedium", "simlarge", "native")
_GROUPS = ("apps", "kernels")
_ASSIGNED = re.compile(r"(export\s+)?(\w+)=(.*)")
_THREADS = re.compile(r"\$\{?NTHREADS\}?")


def prepare(workload: Workload, size: Size, folder: Path) -> ProgramRun:
    """The package's command for this input, with the input unpacked into ``folder``."""
    asked = _options(f"{workload.name}, size {size.label}", size.args)
    package = _package(workload.executable)
    words, environment = _command(package, asked["--input"], asked["--threads"])
    archive = package / "inputs" / f"input_{asked['--input']}.tar"
    if archive.is_file():
        _unpack(archive, folder)
    return ProgramRun(
        argv=(str(_program(package, words[0])), *words[1:]),
        paths=(package,),
        environment=environment,
        folder=folder,
        image=HOST,
        threads=int(asked["--threads"]) > 1,
        verify=lambda done: _verified(workload.name, done),
    )


def missing(workload: Workload, size: Size) -> str:
    """Why the package cannot run: no PARSEC is known, or the package is not built."""
    asked = _options(f"{workload.name}, size {size.label}", size.args)
    try:
        package = _package(workload.executable)
        _program(package, _command(package, asked["--input"], asked["--threads"])[0][0])
    except TesseraError as error:
        return error.sentence
    return ""


def _options(owner: str, args: tuple[str, ...]) -> dict[str, str]:
    found = {"--threads": "1"} | dict(zip(args[::2], args[1::2], strict=False))
    good = set(found) == {"--input", "--threads"} and len(args) % 2 == 0 and found["--input"] in INPUTS
    if not good or not re.fullmatch(r"[1-9]\d{0,3}", found["--threads"], re.ASCII):
        raise TesseraError(
            f"{owner}: {' '.join(args)}",
            f"a PARSEC row needs --input ({', '.join(INPUTS)}), and can have --threads",
            "write --input I [--threads N]",
            code="parsec-options",
        )
    return found


def _package(name: str) -> Path:
    root = os.environ.get(VARIABLE, "")
    if not root:
        raise TesseraError(
            f"PARSEC's {name}",
            f"PARSEC is not part of this artifact, and {VARIABLE} is not set",
            f"get PARSEC 3.0, build it (parsecmgmt -a build -p {name}), and set {VARIABLE} to its folder",
            code="parsec-absent",
        )
    for group in _GROUPS:
        if (found := Path(root) / "pkgs" / group / name).is_dir():
            return found
    raise TesseraError(
        f"PARSEC's {name}",
        f"{root} has no package of this name below pkgs",
        f"check {VARIABLE}",
        code="parsec-package",
    )


def _program(package: Path, words: str) -> Path:
    """The newest build of the program."""
    found = [path for path in package.glob(f"inst/*/{words}") if path.is_file() and os.access(path, os.X_OK)]
    if not found:
        raise TesseraError(
            f"PARSEC's {package.name}",
            f"{package / 'inst'} has no built {words}",
            f"build it: parsecmgmt -a build -p {package.name}",
            code="parsec-not-built",
        )
    return max(found, key=lambda path: (path.stat().st_mtime_ns, str(path)))


def _command(package: Path, chosen: str, threads: str) -> tuple[list[str], dict[str, str]]:
    """(program relative to its build, then arguments; environment) of the input's runconf."""
    path = package / "parsec" / f"{chosen}.runconf"
    try:
        lines = path.read_text().splitlines()
    except OSError as error:
        remedy = "choose another input"
        raise TesseraError(f"input {chosen} of {package.name}", f"{path}: {error.strerror}", remedy) from None
    found: dict[str, str] = {}
    exported: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        match = _ASSIGNED.fullmatch(line.split("#")[0].strip())
        if match is None:
            continue
        value = _THREADS.sub(threads, " ".join(shlex.split(match[3])))
        if "$" in value or "`" in value:
            raise TesseraError(
                f"{path} line {number}",
                f"'{value}' needs a shell",
                "run it by: tessera workload add",
                code="parsec-shell",
            )
        (exported if match[1] else found)[match[2]] = value
    if "run_exec" not in found:
        raise TesseraError(f"{path}", "it has no run_exec", "check the installation", code="parsec-runconf")
    return [found["run_exec"], *shlex.split(found.get("run_args", ""))], exported


def _unpack(archive: Path, folder: Path) -> None:
    """Regular files and folders of a tar, below ``folder``."""
    with tarfile.open(archive) as packed:
        for member in packed:
            target = (folder / member.name).resolve()
            inside = target.is_relative_to(folder.resolve())
            if not inside or not (member.isreg() or member.isdir()):
                found = f"'{member.name}' is no file or folder below the archive's own"
                raise TesseraError(f"input {archive}", found, "check the installation", code="parsec-archive")
            packed.extract(member, folder, set_attrs=False)


def _verified(name: str, done: Finished) -> dict:
    return {
        "workload": name,
        "verified": True,
        "verified_by": "exit status: PARSEC has no expected output here",
    }
