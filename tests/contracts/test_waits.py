"""Nothing waits for ever: whoever waits for a process has a limit, a watchdog, or a reason in this table."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "tessera"

KILLED = "it has got SIGKILL, or has ended its output"
OWN = "a program of Tessera, which waits for nobody"
QUICK = "a program of this machine that only reads files"
USER = "its user sees its output and ends it"
BY_HAND = "started by hand; the other side has limits of its own (apt, pip, uv), or is a tar file"

#: Module -> number of waits without a limit, and why each may have none.
WITHOUT_LIMIT = {
    "cli/machine.py": [USER],
    "cli/plan/estimate.py": [OWN],
    "fit/sklearn_versions.py": [BY_HAND],
    "lab/allocator_proof/bench.py": [OWN, OWN],
    "lab/allocator_proof/suite/c_libraries.py": [BY_HAND],
    "lab/kernel/guest.py": [KILLED],
    "lab/oracle/imitation.py": [OWN, OWN],
    "machine/container/build.py": [QUICK],
    "machine/container/images.py": [
        "a question to the image that the engine has just built",
        "a build: apt ends a connection that stalls, a slow one may take hours; the log shows it",
    ],
    "machine/container/process.py": [KILLED],
    "machine/program_paths.py": [OWN],
    "measure/mosalloc/background.py": [KILLED],
    "measure/mosalloc/capture_matrix.py": ["told to end; a program may save its data"],
    "measure/suggest/sampled_profile.py": ["perf of `true`", KILLED, USER],
    "record/traces/guest.py": [OWN],
    "report/package/contents.py": [QUICK],
    "report/provenance.py": [QUICK],
    "simulate/operating_system.py": [KILLED],
    "simulate/simulator.py": [KILLED, KILLED],
}


def waits(node: ast.AST, watched: bool = False) -> Iterator[int]:
    """Lines that wait for a process without a limit, outside a block with a watchdog."""
    if isinstance(node, ast.With):
        items = [item.context_expr for item in node.items]
        inside = watched or any("watch" in ast.unparse(item) for item in items)
        for child in (*items, *node.body):
            yield from waits(child, inside)
        return
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not watched:
        name, owner = node.func.attr, ast.unparse(node.func.value)
        starts = owner == "subprocess" and name in ("run", "call", "check_call", "check_output")
        limited = any(word.arg == "timeout" for word in node.keywords) or (name == "wait" and node.args)
        if (starts or name in ("communicate", "wait")) and not limited:
            yield node.lineno
    for child in ast.iter_child_nodes(node):
        yield from waits(child, watched)


def test_who_waits_for_a_process_has_a_limit_or_a_reason():
    found = {}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        if path.name == "watchdog.py" or not re.search(r"subprocess|\.communicate\(|\.wait\(", text):
            continue
        if lines := list(waits(ast.parse(text))):
            found[path.relative_to(SOURCE).as_posix()] = lines
    remedy = "give a timeout, use tessera.machine.container.watchdog, or write the reason into WITHOUT_LIMIT"
    assert {name: len(lines) for name, lines in found.items()} == {
        name: len(reasons) for name, reasons in WITHOUT_LIMIT.items()
    }, f"{remedy}: {found}"


def test_the_search_finds_what_it_should():
    text = """
subprocess.run(["x"])
subprocess.run(["x"], timeout=3)
process.wait()
process.wait(3)
with watchdog(process, "x"):
    process.communicate()
with other():
    process.communicate()
"""
    assert list(waits(ast.parse(text))) == [2, 4, 9]
