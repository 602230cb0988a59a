"""Bars on a terminal, lines in a log."""

from __future__ import annotations

import re

from tessera.core import progress

from .terminal import on_terminal

DOWNLOAD = """
from tessera.core.progress import download_progress
with download_progress() as show:
    for done in range(0, 11):
        show("graph", done << 20, 10 << 20)
"""
BARS = """
from tessera.core.progress import Bars
bars = Bars()
bars.update("w on p", 5, 10, "50%, 3 s left")
bars.say("a [line] above")
bars.update("w on p", 10, 10, "100%")
bars.close()
bars.say("after")
"""


def test_a_download_in_a_log_is_a_line_now_and_then(capsys, monkeypatch):
    now = 0.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with progress.download_progress() as show:
        for now in range(0, 70, 10):
            show("graph", now << 20, 60 << 20)
        show("other", 3 << 30, None)
    assert capsys.readouterr().err.splitlines() == [
        "graph: 30.0 MB of 60.0 MB (50%)",
        "graph: 60.0 MB of 60.0 MB (100%)",
    ]


def test_a_download_on_a_terminal_is_a_bar():
    written = on_terminal(DOWNLOAD)
    assert "\x1b" in written and "10.0/10.0 MiB" in written and "(100%)" not in written


def test_lines_stand_above_the_bars():
    plain = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", on_terminal(BARS, columns=80))
    assert "50%, 3 s left" in plain and "100%" in plain
    assert plain.index("a [line] above") < plain.rindex("100%") < plain.index("after")


def test_a_simulation_is_a_bar_and_other_text_stands_above():
    code = """
from tessera.simulate.progress import Ticker
ticker = Ticker("w on p")
ticker("5 10 2000000 1")
ticker("2 of 4 layouts are in the cache")
ticker("10 10 2000000 0")
"""
    written = on_terminal(code, columns=100)  # nobody closes the ticker: the end of the process does
    assert "w on p: 2 of 4 layouts are in the cache" in written
    assert "50%, 2.0 M accesses x layouts/s, 1 s left" in written and written.endswith("\r\n\x1b[?25h")


def test_a_growing_file_has_a_bar_and_lines_stand_above(tmp_path):
    code = f"""
import sys, time
from pathlib import Path
from tessera.core import progress
progress.GROWTH_SECONDS = progress.REFRESH_SECONDS = 0.01
path = Path({str(tmp_path)!r}) / ".record-1" / "trace.tst"
path.parent.mkdir()
with progress.growth("recording w", path.parents[1], ".record-*/*.tst"):
    path.write_bytes(bytes(3 << 20))
    time.sleep(1)
    print("a line of the program", file=sys.stderr)
    path.rename(path.with_name("trace"))
    time.sleep(0.1)
print("after")
"""
    plain = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", on_terminal(code, columns=100))
    assert re.search(r"recording w .* 3\.0 MB written", plain)
    assert re.search(r"[\r\n]a line of the program\r\n", plain)
    assert plain.rstrip().endswith("after")


def test_a_growing_file_in_a_log_says_nothing(tmp_path, capsys):
    with progress.growth("recording w", tmp_path, "*"):
        (tmp_path / "trace").write_bytes(b"x")
    assert capsys.readouterr() == ("", "")
