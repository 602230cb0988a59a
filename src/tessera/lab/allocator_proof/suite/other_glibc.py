"""The built library under other versions of glibc: its cases, and random calls with and without it.

The runs under one C library are a shell script: a base has a shell, but perhaps no Python.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from tessera.core.checks import FAIL, PASS, SKIP, Check, status_counts
from tessera.core.errors import TesseraError
from tessera.core.files import build_dir, built, repo_root
from tessera.core.tables import table_text
from tessera.lab.allocator_proof.suite.c_libraries import BaseMissing, CLibrary, bases, image_of
from tessera.lab.allocator_proof.suite.section import Findings, ProofSettings, Section, tail
from tessera.machine.container.component_tests import OPTIONS
from tessera.machine.container.engine import DOCKER, container_engine_name
from tessera.machine.container.process import stopped_at_exit
from tessera.machine.container.toolchain import DockerToolchain
from tessera.machine.reserve import HugePagesUnavailable, reserve_huge_pages

# The script of the runs under one C library.
#
# A run is a line ``run NAME COMMAND...`` of the script. It writes ``NAME.log`` and prints ``ran NAME
# STATUS``.

CONDITIONS = ("kernel", "4kb", "2mb")
THREADS = (1, 4)
OPERATIONS = 20_000
RUN_SECONDS = 60

_HEAD = f"""\
ld=/lib64/ld-linux-x86-64.so.2
echo "libc $($ld --version | head -n 1)"
run() {{
    name=$1
    shift
    timeout -k 2 {RUN_SECONDS} "$@" >"$name.log" 2>&1 </dev/null
    echo "ran $name $?"
}}
"""


def runner_module() -> ModuleType:
    """The component's own runner of cases: its layouts, options and judgement of reports."""
    path = repo_root() / "artifacts/mosalloc/tests/run_under.py"
    spec = importlib.util.spec_from_file_location("mosalloc_run_under", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def case_names() -> list[str]:
    """The cases that the component was built with."""
    listed = (build_dir("mosalloc") / "tests/CTestTestfile.cmake").read_text()
    return re.findall(r"add_test\((?:\[=\[)?4kb\.(\w+)", listed)


def write_script(
    folder: Path, conditions: Iterable[str], operations: int = OPERATIONS
) -> tuple[Path, list[str]]:
    """Write the script and its layouts into the folder; the script and the names of its runs."""
    build, runner = build_dir("mosalloc"), runner_module()
    commands: dict[str, str] = {}
    for condition in conditions:
        layout = folder / f"{condition}.csv"
        layout.write_text(runner.layout_of(condition))
        for case in case_names():
            name = f"{condition}.{case}"
            launcher = [f"{build}/mosalloc-run", "--layout", str(layout), "--report", f"{folder}/{name}.json"]
            launcher += [*runner.options_of(condition, case), "--"]
            case_words = [*([] if condition == "kernel" else launcher), f"{build}/cases", case]
            commands[name] = shlex.join(case_words)
    for threads in THREADS:
        program = shlex.join([f"{build}/differential", "1", str(operations), str(threads)])
        preloaded = f'LD_PRELOAD="$library" {shlex.quote(f"MOSALLOC_LAYOUT={folder}/4kb.csv")}'
        commands[f"plain.{threads}"] = program
        commands[f"library.{threads}"] = f"env {preloaded} {program}"
    script = folder / "runs.sh"
    find = shlex.join([f"{build}/mosalloc-run", "--preload-path", f"{build}/libmosalloc.so"])
    lines = [f"cd {shlex.quote(str(folder))}", f"library=$({find}) || exit 1"]
    lines += [f"run {name} {command}" for name, command in commands.items()]
    script.write_text(_HEAD + "\n".join(lines) + "\n")
    return script, list(commands)


# What the runs under one C library have shown.


@dataclass(frozen=True)
class ScriptRun:
    """A script's output, and the folder with what its runs left."""

    output: str
    folder: Path

    def glibc(self) -> str:
        """The version that the dynamic linker prints: ``2.41``; empty if it did not."""
        found = re.search(r"^libc .*\bversion (2\.\d+)", self.output, re.M)
        return found.group(1) if found else ""

    def statuses(self) -> dict[str, int]:
        """Exit status of each run that ended."""
        return {name: int(status) for name, status in re.findall(r"^ran (\S+) (\d+)$", self.output, re.M)}

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""


def library_checks(version: str, ran: ScriptRun, names: Sequence[str]) -> list[Check]:
    """A check for the version, for each case, and for each comparison of random calls."""
    found = ran.glibc()
    wrong = "" if found == version else f"glibc {found or 'unknown'} was found: {tail(ran.output, 2)}"
    made = [_check(f"{version} version", wrong)]
    statuses = ran.statuses()
    for name in names:
        if name.partition(".")[0] not in ("plain", "library"):
            made.append(_check(f"{version} {name}", _wrong_in_case(ran, name, statuses.get(name))))
    for threads in THREADS:
        made.append(_check(f"{version} random calls, {threads} threads", _difference(ran, threads, statuses)))
    return made


def _check(name: str, wrong: str) -> Check:
    return Check(name, FAIL if wrong else PASS, wrong)


def _wrong_in_case(ran: ScriptRun, name: str, status: int | None) -> str:
    if status != 0:
        return f"{'did not end' if status is None else f'status {status}'}: {tail(ran.log(name))}"
    condition, _, case = name.partition(".")
    if condition == "kernel":
        return ""
    report = json.loads((ran.folder / f"{name}.json").read_text())
    if report["counters"]["fork_late_lock"] != 0:
        return "the library could not patch libc's fork, so a fork can hang: fork_late_lock is 1"
    return runner_module().wrong_in(report, condition, case)


def _difference(ran: ScriptRun, threads: int, statuses: dict[str, int]) -> str:
    names = [f"{kind}.{threads}" for kind in ("plain", "library")]
    ended = [statuses.get(name) for name in names]
    plain, ours = map(ran.log, names)
    if ended != [0, 0]:
        return f"statuses {ended}: {tail(plain, 2)} / {tail(ours, 2)}"
    if "digest" not in plain or plain != ours:
        return f"without the library: {tail(plain, 2)}; with it: {tail(ours, 2)}"
    return ""


# The section.

#: A case asks for 8 pages, and a child that it forks may copy them.
PAGES_2MB = 16
#: For all runs of one C library; they take about 5 s.
SCRIPT_SECONDS = 300

HEADS = ("glibc", "system", "runs", "passed", "failed", "skipped", "s")


def run(settings: ProofSettings) -> Findings:
    """Every base in turn; one without files is a skip with the reason."""
    built("mosalloc", "cases")
    checks: list[Check] = []
    rows: list[dict] = []
    with ExitStack() as held:
        missing = ""
        try:
            held.enter_context(reserve_huge_pages(PAGES_2MB))
        except HugePagesUnavailable as error:
            missing = error.sentence
        for base in bases():
            settings.say(f"glibc {base.version}")
            started = time.monotonic()
            found = _under(base, settings, missing)
            results = status_counts(check.status for check in found)
            numbers = {status.lower(): count for status, count in results.items()}
            seconds = round(time.monotonic() - started, 1)
            rows.append({"glibc": base.version, "system": base.system, "runs": len(found), **numbers,
                         "seconds": seconds})  # fmt: skip
            checks += found
    text = table_text(HEADS, [[str(value) for value in row.values()] for row in rows])
    return Findings(checks, text, rows)


def _under(base: CLibrary, settings: ProofSettings, no_pages: str) -> list[Check]:
    if container_engine_name() != DOCKER:
        reason = "a container holds the other C library: use the engine docker"
        return [Check(base.version, SKIP, reason)]
    conditions = [name for name in CONDITIONS if name != "2mb" or not no_pages]
    folder = build_dir("libraries") / base.version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    script, names = write_script(folder, conditions)
    try:
        with image_of(base, settings.say) as tag:
            options = replace(OPTIONS, writes=(folder,))
            process = DockerToolchain(tag).popen(
                ["sh", script], options=options, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            with stopped_at_exit(process):
                output = process.communicate(timeout=SCRIPT_SECONDS)[0]
    except BaseMissing as reason:
        return [Check(base.version, SKIP, str(reason))]
    except TesseraError as error:  # a base that the user gave, and that is not usable: the others still run
        return [Check(base.version, FAIL, " ".join(str(error).split()))]
    found = library_checks(base.version, ScriptRun(output, folder), names)
    if no_pages:
        found.append(Check(f"{base.version} 2mb", SKIP, no_pages))
    failed = status_counts(check.status for check in found)[FAIL]
    settings.say(f"glibc {base.version}: {len(found)} runs, {failed} failed")
    return found


SECTION = Section("libraries", "Other C libraries", run)
