"""The runs under one C library, as a shell script: a base has a shell, but perhaps no Python.

A run is a line ``run NAME COMMAND...`` of the script. It writes ``NAME.log`` and prints ``ran NAME STATUS``.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from tessera.core.paths import build_dir, repo_root

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


def run_under() -> ModuleType:
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
    build, runner = build_dir("mosalloc"), run_under()
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
