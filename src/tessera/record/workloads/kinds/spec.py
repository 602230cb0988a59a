"""``kind: spec``: a benchmark of the user's own SPEC CPU installation, run as SPEC's tools would run it.

``executable`` is the benchmark (``429.mcf``). A size's ``args`` are ``--suite CPU2006``, ``--input ref``
(``test``, ``train``, ``refspeed``, ...) and ``--command N`` where a run has several (from 1). The run
folder's files are linked into the run's own folder, so nothing is written into the installation.
"""

from __future__ import annotations

from pathlib import Path

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.record.workloads.model import Size, Workload
from tessera.record.workloads.run import HOST, Finished, Run
from tessera.record.workloads.spec import install
from tessera.record.workloads.spec.commands import Command, read_commands
from tessera.record.workloads.spec.compare import first_difference


def prepare(workload: Workload, size: Size, folder: Path) -> Run:
    """The chosen command of the benchmark's run folder."""
    owner = f"{workload.name}, size {size.label}"
    asked = _options(owner, size.args)
    suite = install.suite(asked["--suite"])
    source = install.run_folder(suite, workload.executable, asked["--input"])
    commands = read_commands(source / "speccmds.cmd")
    number = int(asked["--command"])
    if not 1 <= number <= len(commands):
        raise TesseraError(
            f"{owner}: --command {number}",
            f"{source} has {len(commands)} commands",
            f"give a number from 1 to {len(commands)}",
        )
    command = commands[number - 1]
    if command.stdin:
        raise TesseraError(
            f"{owner}: {command.program.name}",
            "the command reads standard input, which Tessera does not support",
            "choose another row",
        )
    root = install.root_of(suite)
    data = root / suite.benchmarks / workload.executable / "data" / asked["--input"] / "output"
    expected = sorted(path for path in data.glob("*") if path.is_file())
    _link(source, folder, {command.stdout, command.stderr} | {path.name for path in expected})
    return Run(
        argv=(str(command.program), *command.args),
        paths=(root,),
        environment=command.environment,
        folder=folder,
        image=HOST,
        threads=bool(workload.threads),
        verify=lambda done: _verified(workload.name, command, expected, len(commands), done),
    )


def missing(workload: Workload, size: Size) -> str:
    """Why there is no run folder: no installation is known, or it is not set up for this input."""
    asked = _options(f"{workload.name}, size {size.label}", size.args)
    suite = install.suite(asked["--suite"])
    try:
        install.run_folder(suite, workload.executable, asked["--input"])
    except TesseraError as error:
        return f"{error.asked}: {error.found}; {error.remedy}"
    return ""


def _options(owner: str, args: tuple[str, ...]) -> dict[str, str]:
    found = {"--command": "1"} | dict(zip(args[::2], args[1::2], strict=False))
    if set(found) != {"--suite", "--input", "--command"} or len(args) % 2 or not found["--command"].isdigit():
        raise TesseraError(
            f"{owner}: {' '.join(args)}",
            "a SPEC row needs --suite and --input, and can have --command",
            "write --suite S --input I [--command N]",
            code="spec-options",
        )
    return found


def _link(source: Path, folder: Path, outputs: set[str | None]) -> None:
    """Link the run folder's files into ``folder``, except the outputs, which the run writes."""
    for old in folder.iterdir():
        if old.is_symlink() or old.name in outputs:
            old.unlink()
    for path in source.iterdir():
        if path.name not in outputs and not (folder / path.name).exists():
            (folder / path.name).symlink_to(path)


def _verified(name: str, command: Command, expected: list[Path], commands: int, done: Finished) -> dict:
    """Compare the command's outputs with SPEC's expected outputs, if the installation has them."""
    compared = 0
    for path in expected:
        if path.name == command.stdout:
            found = done.stdout
        elif (done.folder / path.name).exists():
            found = (done.folder / path.name).read_text(errors="replace")
        elif commands > 1:
            continue  # another command of the run writes it
        else:
            raise _wrong(name, f"the benchmark did not write {path.name}")
        if difference := first_difference(path.read_text(errors="replace"), found):
            raise _wrong(name, f"{path.name}, {difference}")
        compared += 1
    by = (
        f"{compared} expected outputs" if compared else "exit status: the installation has no expected output"
    )
    return {"workload": name, "verified": True, "verified_by": by}


def _wrong(name: str, found: str) -> TesseraError:
    remedy = "run the benchmark with SPEC's own tools; no trace is kept of a run with a wrong result"
    return TesseraError(f"result of {name}", found, remedy, exit_code=EXIT_FAILED)
