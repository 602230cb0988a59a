"""docs/howto/mosalloc.md: each command runs (at a smaller size), each name in it exists."""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from tessera.cli.mosalloc.group import run
from tessera.cli.mosalloc.suggest import suggest
from tessera.core.files import build_dir
from tests.docs import pages

PAGE = "mosalloc.md"

#: What the page does on a larger scale; a test must not take minutes.
SMALLER = {
    "--size 256MB": "--size 32MB",
    "--reads 8000000": "--reads 200000",
    "--pairs 12": "--pairs 2",
    "300000 30000 4000": "3000 300 50",
    "300000 30000 60000": "3000 300 100",
    "--max-accesses 600000000": "--max-accesses 20000000",
}


COMMANDS = pages.typed(PAGE, languages=("console",))


def smaller(command: str, folder) -> str:
    """The command at a size for tests, its files in ``folder``."""
    return pages.replaced(command, SMALLER | {"/tmp/": f"{folder}/"})


def reserving() -> bool:
    return os.environ.get("TESSERA_RESERVE") == "1"


def without_pages(command: str) -> str | None:
    """What of a command needs no huge pages; None if nothing."""
    if "mosalloc reserve" in command and "--dry-run" not in command and "--release" not in command:
        return None
    if "hot-64mb.csv" in command and "mosalloc run" in command:
        return None
    return command.replace("--apply --yes", "")


def run_page(folder, wanted) -> int:
    """Run the page's commands that ``wanted`` accepts, in order; how many ran."""
    lines = [smaller(command, folder) for command in COMMANDS if wanted(command)]
    lines = lines if reserving() else [line for line in map(without_pages, lines) if line is not None]
    for line in lines:
        pages.shell(line, pages.ROOT)
    return len(lines)


@pytest.fixture
def components(build):
    needed = {"tracer": "libtessera-trace.so", "simulator": "tessera-sim", "workloads": "gups"}
    for component, name in needed.items():
        if not (build_dir(component) / name).exists():
            pytest.skip(f"{name} is not built: ./run tessera dev build")


@pytest.mark.toolchain
def test_commands_run_in_the_order_of_the_page(components, tmp_path):
    usage = subprocess.run([build_dir("mosalloc") / "mosalloc-run", "--help"], capture_output=True, text=True)
    skipped = [] if "--analyze" in usage.stdout else ["mosalloc analyze"]

    def wanted(command: str) -> bool:
        return "redis" not in command and not any(word in command for word in skipped)

    assert run_page(tmp_path, wanted) >= (8 if reserving() else 4)
    if skipped:
        pytest.skip("mosalloc-run has no --analyze: ./run tessera dev build --test mosalloc; the others ran")


@pytest.mark.toolchain
def test_the_worked_example_runs(components, tmp_path):
    packages = {"redis-server": "redis-server", "redis-benchmark": "redis-tools", "redis-cli": "redis-tools"}
    missing = sorted({package for name, package in packages.items() if shutil.which(name) is None})
    if missing:
        pytest.skip(f"apt install {' '.join(missing)}")
    assert run_page(tmp_path, lambda command: "redis" in command) == 1
    assert (tmp_path / "redis.csv").exists()


def test_the_scale_of_the_commands_is_really_replaced():
    """A size that changes on the page must not make the test run it in full."""
    text, small = "\n".join(COMMANDS), "\n".join(smaller(command, "/x") for command in COMMANDS)
    for large in ("256MB", "8000000", "300000", "600000000", "--pairs 12", "/tmp/"):
        assert large in text and large not in small


def test_options_of_the_page_exist():
    of_launcher = {"--count", "--counts", "--count-region"}
    for heading, command in (("suggest", suggest), ("Options of `run`", run)):
        section = pages.text(PAGE, heading).split("### redis")[0]
        names = set(re.findall(r"`(--[a-z-]+)", "".join(section.split("```")[::2]))) - of_launcher
        known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
        assert names and names <= known


def test_messages_of_the_error_table_are_in_the_code(root):
    section = pages.text(PAGE, "Errors and what to do")
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
    (unit,) = pages.blocks(PAGE, "ini")
    names = re.findall(r"^Environment=(\w+)=", unit, re.MULTILINE)
    source = "\n".join(path.read_text() for path in (root / "artifacts/mosalloc/preload").glob("*.cpp"))
    assert "LD_PRELOAD" in names
    for name in names:
        assert name == "LD_PRELOAD" or f'"{name}"' in source


def test_the_layout_shown_is_a_layout(tmp_path):
    from tessera.core.layouts.layout import read_layout

    shown = re.search(r"```\n(type,.*?)```", pages.text(PAGE), re.DOTALL).group(1)
    (tmp_path / "l.csv").write_text(shown)
    assert len(read_layout(tmp_path / "l.csv").windows) == 1
