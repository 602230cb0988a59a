"""What the pages docs/howto/add-a-*.md say to write: new files, and lines to add to files that exist."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

#: "... `path/of/file.py`:" and the block behind it
NEW_FILE = re.compile(r"`([\w/-]+\.(?:py|cpp|c))`:\n\n```\w+\n(.*?)```", re.DOTALL)
#: a file, the lines before, and the lines to add (each with a +)
DIFF = re.compile(r"```diff\n\+\+\+ (\S+)\n((?: .*\n)+)((?:\+.*\n)+)```")


@dataclass(frozen=True)
class Addition:
    """New files by path, and (path, lines that are there, lines to add behind them)."""

    files: dict[str, str]
    lines: list[tuple[str, str, str]]

    def apply(self, checkout: Path) -> None:
        """Write the files and add the lines; a context that is not there exactly once is an error."""
        for name, text in self.files.items():
            path = checkout / name
            assert not path.exists(), f"{name} is there already"
            path.write_text(text)
        for name, before, added in self.lines:
            text = (checkout / name).read_text()
            assert text.count(before) == 1, f"{name} has {text.count(before)} times:\n{before}"
            (checkout / name).write_text(text.replace(before, before + added))


def addition(page: Path) -> Addition:
    """What a page says; blocks that are neither a new file nor a diff are left out."""
    text = page.read_text()
    lines = [(name, _plain(before), _plain(added)) for name, before, added in DIFF.findall(text)]
    assert len(lines) == text.count("```diff"), f"{page.name}: a diff block of another form"
    return Addition(dict(NEW_FILE.findall(text)), lines)


def _plain(lines: str) -> str:
    """Without the column of blanks or plus signs."""
    return "".join(line[1:] for line in lines.splitlines(keepends=True))
