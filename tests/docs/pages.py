"""README.md and the pages of docs/ as tests read them: blocks, tables, commands, and how commands run.

A page is named as its file. ``part`` is how a heading of the second level begins: only its section is read.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

from click.testing import CliRunner

from tessera.cli.main import cli

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.name: path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))}


def text(page: str, part: str = "") -> str:
    found = PAGES[page].read_text()
    return re.split(rf"^## {re.escape(part)}", found, flags=re.M)[1].split("\n## ")[0] if part else found


def blocks(page: str, language: str, part: str = "") -> list[str]:
    """The blocks of this language, indented ones as they stand."""
    return re.findall(rf"```{language}\n(.*?)```", text(page, part), re.DOTALL)


def table(page: str, head: str) -> list[list[str]]:
    """Rows of the table with this row of heads, without blanks and backquotes around a cell."""
    rows = text(page).split(f"\n{head}\n")[1].split("\n\n")[0].splitlines()[1:]
    return [[cell.strip().strip("`") for cell in row.strip("|").split("|")] for row in rows]


def typed(page: str, part: str = "", languages: Iterable[str] = ("sh",)) -> list[str]:
    """Lines that a reader types, in their order, continued lines joined.

    If a block has lines with the prompt ``$``, these are the commands, and the others what they print.
    """
    lines: list[str] = []
    for block in blocks(page, f"(?:{'|'.join(languages)})", part):
        stripped = [line.strip() for line in re.sub(r" *\\\n *", " ", block).splitlines()]
        prompted = [line[2:] for line in stripped if line.startswith("$ ")]
        lines += prompted or [line for line in stripped if line and not line.startswith("#")]
    return lines


def sessions(page: str, part: str = "") -> list[tuple[str, list[str]]]:
    """Commands of ``console`` blocks, each with the lines that the page shows below it."""
    found: list[tuple[str, list[str]]] = []
    for block in blocks(page, "console", part):
        for line in re.sub(r" *\\\n *", " ", textwrap.dedent(block)).splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def replaced(line: str, places: dict[str, object]) -> str:
    """The line with places of a test for those of the page."""
    for old, new in places.items():
        line = line.replace(old, str(new))
    return line


def invoke(line: str, status: int = 0) -> str:
    """What a line ``./run tessera ...`` prints in this process; ``*`` stands for files, as in a shell."""
    words = shlex.split(line, comments=True)
    assert words[:2] == ["./run", "tessera"], f"no command for this process: {line}"
    words = [found for word in words[2:] for found in (sorted(glob.glob(word)) if "*" in word else [word])]
    done = CliRunner().invoke(cli, words)
    assert done.exit_code == status, f"{line}\n{done.output}\n{done.exception}"
    return done.output


def invoke_all(page: str, places: dict[str, object] | None = None, but: tuple[str, ...] = ()) -> int:
    """Run the commands of ``sh`` blocks in this process, but not those with such a word; how many ran."""
    lines = [line for line in typed(page) if not any(word in line for word in but)]
    for line in lines:
        invoke(replaced(line, places or {}))
    return len(lines)


def shell(line: str, cwd: Path, **environment: object) -> str:
    """What a line prints on both streams in a shell, with this Python for ``./run``."""
    done = subprocess.run(
        ["sh", "-c", line.replace("./run tessera", f"{sys.executable} -m tessera")],
        cwd=cwd, capture_output=True, text=True, timeout=900,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | {k: str(v) for k, v in environment.items()},
    )  # fmt: skip
    assert done.returncode == 0, f"{line}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout + done.stderr
