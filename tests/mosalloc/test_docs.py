"""docs/mosalloc.md: each command runs (at a smaller size), each name in it exists."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from tessera.cli.mosalloc.group import run
from tessera.cli.mosalloc.suggest import suggest
from tessera.core.files import build_dir

PAGE = "docs/mosalloc.md"

#: What the page does on a larger scale; a test must not take minutes.
SMALLER = {
    "--size 256MB": "--size 32MB",
    "--reads 8000000": "--reads 200000",
    "--pairs 12": "--pairs 2",
    "300000 30000 4000": "3000 300 50",
    "300000 30000 60000": "3000 300 100",
    "--max-accesses 600000000": "--max-accesses 20000000",
}


def page(root) -> str:
    return (root / PAGE).read_text()


def commands(root) -> list[str]:
    """Lines of console blocks that a reader types."""
    blocks = re.findall(r"```console\n(.*?)```", page(root), re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def smaller(command: str, folder) -> str:
    """The command at a size for tests, its files in ``folder``."""
    for text, replacement in SMALLER.items():
        command = command.replace(text, replacement)
    return command.replace("/tmp/", f"{folder}/").replace("./run tessera", f"{sys.executable} -m tessera")


def reserving() -> bool:
    return os.environ.get("TESSERA_RESERVE") == "1"


def without_pages(command: str) -> str | None:
    """What of a command needs no huge pages; None if nothing."""
    if "mosalloc reserve" in command and "--dry-run" not in command and "--release" not in command:
        return None
    if "hot-64mb.csv" in command and "mosalloc run" in command:
        return None
    return command.replace("--apply --yes", "")


def run_page(root, folder, wanted) -> int:
    """Run the page's commands that ``wanted`` accepts, in order; how many ran."""
    env = os.environ | {"PYTHONPATH": str(root / "src")}
    seen = 0
    for command in filter(wanted, commands(root)):
        line = smaller(command, folder)
        if not reserving() and (line := without_pages(line)) is None:
            continue
        done = subprocess.run(["sh", "-c", line], cwd=root, env=env, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        seen += 1
    return seen


@pytest.fixture
def components(build):
    needed = {"tracer": "libtessera-trace.so", "simulator": "tessera-sim", "workloads": "gups"}
    for component, name in needed.items():
        if not (build_dir(component) / name).exists():
            pytest.skip(f"{name} is not built: ./run tessera build")


@pytest.mark.toolchain
def test_commands_run_in_the_order_of_the_page(root, components, tmp_path):
    usage = subprocess.run([build_dir("mosalloc") / "mosalloc-run", "--help"], capture_output=True, text=True)
    skipped = [] if "--analyze" in usage.stdout else ["mosalloc analyze"]

    def wanted(command: str) -> bool:
        return "redis" not in command and not any(word in command for word in skipped)

    assert run_page(root, tmp_path, wanted) >= (8 if reserving() else 4)
    if skipped:
        pytest.skip("mosalloc-run has no --analyze: ./run tessera build --test mosalloc; the others ran")


@pytest.mark.toolchain
def test_the_worked_example_runs(root, components, tmp_path):
    packages = {"redis-server": "redis-server", "redis-benchmark": "redis-tools", "redis-cli": "redis-tools"}
    missing = sorted({package for name, package in packages.items() if shutil.which(name) is None})
    if missing:
        pytest.skip(f"apt install {' '.join(missing)}")
    assert run_page(root, tmp_path, lambda command: "redis" in command) == 1
    assert (tmp_path / "redis.csv").exists()


def test_the_scale_of_the_commands_is_really_replaced(root):
    """A size that changes on the page must not make the test run it in full."""
    text = "\n".join(commands(root))
    for large in ("256MB", "8000000", "300000", "600000000", "--pairs 12"):
        assert large in text
    # The interpreter's path is the checkout's, which may lie anywhere.
    small = "\n".join(smaller(command, "/x").replace(sys.executable, "python") for command in commands(root))
    for large in ("256MB", "8000000", "300000", "600000000", "--pairs 12", "/tmp/"):
        assert large not in small


def test_option_tables_name_options_that_exist(root):
    for heading, command in (("## suggest", suggest), ("## Options of `run`", run)):
        section = page(root).split(heading)[1].split("\n## ")[0]
        rows = [line.split("|")[1] for line in section.replace(r"\|", "/").splitlines() if line[:3] == "| `"]
        names = [name for row in rows for name in re.findall(r"--[a-z-]+", row)]
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        assert names and set(names) <= known


def test_messages_of_the_error_table_are_in_the_code(root):
    section = page(root).split("## Errors and what to do")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    files = [
        path
        for folder in ("src/tessera", "artifacts/mosalloc")
        for path in (root / folder).rglob("*")
        if path.suffix in (".py", ".cpp", ".h")
    ]
    code = "\n".join(path.read_text() for path in files)
    fragments = [text for row in rows for text in re.findall(r"`([^`]+)`", row) if text != "check"]
    assert len(fragments) >= 6
    for fragment in fragments:
        assert fragment in code, fragment


def test_the_unit_sets_variables_that_the_library_reads(root):
    unit = re.search(r"```ini\n(.*?)```", page(root), re.DOTALL).group(1)
    names = re.findall(r"^Environment=(\w+)=", unit, re.MULTILINE)
    source = "\n".join(path.read_text() for path in (root / "artifacts/mosalloc/preload").glob("*.cpp"))
    assert "LD_PRELOAD" in names
    for name in names:
        assert name == "LD_PRELOAD" or f'"{name}"' in source


def test_the_layout_shown_is_a_layout(root, tmp_path):
    from tessera.core.layouts.layout import read_layout

    shown = re.search(r"```\n(type,.*?)```", page(root), re.DOTALL).group(1)
    (tmp_path / "l.csv").write_text(shown)
    assert len(read_layout(tmp_path / "l.csv").windows) == 1


def test_commands_split_like_a_shells(root):
    for command in commands(root):
        words = shlex.split(command)
        assert words[:2] == ["./run", "tessera"] or "LD_PRELOAD" in words[0]
