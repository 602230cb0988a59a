"""docs/howto/measure.md, "Servers": its command on redis, or on a small server if redis is not installed."""

from __future__ import annotations

import re
import shlex
import shutil
import socket
import subprocess
import sys
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "howto" / "measure.md").read_text()
SERVER = """import http.server, signal, sys
signal.signal(signal.SIGTERM, lambda *_: sys.exit(print(f"got-{_[0]}", flush=True)))
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), http.server.SimpleHTTPRequestHandler).serve_forever()
"""
LOAD = "import urllib.request as u; [u.urlopen('http://127.0.0.1:{}/').read() for _ in range(20)]; print(20)"


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def words(tmp_path):
    """The words of the page behind ``measure``."""
    (line,) = re.findall(r"^\./run tessera measure --ready-port .*$", PAGE, re.M)
    found, port = shlex.split(line)[3:], str(free_port())
    found = [word.replace("7000", port) for word in found]
    if shutil.which("redis-server") and shutil.which("redis-benchmark"):
        return found
    (tmp_path / "server.py").write_text(SERVER)
    found[found.index("--load") + 1] = shlex.join([sys.executable, "-c", LOAD.format(port)])
    return [*found[: found.index("--") + 1], sys.executable, str(tmp_path / "server.py"), port]


def test_a_server_is_stopped_when_its_load_has_ended(tmp_path):
    command = [sys.executable, "-m", "tessera", "measure", *words(tmp_path)]
    done = subprocess.run(
        command,
        capture_output=True, text=True, cwd=tmp_path, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (time,) = re.findall(r"^clock time +([\d.]+) s$", done.stdout, re.M)
    before = done.stdout.split("clock time")[0]
    assert "requests per second" in before if "redis-server" in command else "20\n" in before  # of the load
    assert 0 < float(time) < 60
    assert "C / R" not in done.stdout  # servers are not counted
    if "server.py" in " ".join(command):
        assert "got-15" in done.stdout  # SIGTERM
