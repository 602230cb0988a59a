"""``./run --offline smoke`` of an unpacked package, in a network namespace without a network.

It takes as long as a smoke job with all builds. So it runs only if ``TESSERA_TEST_OFFLINE`` names the
package:

    ./run --yes smoke
    ./run tessera dev package --results results/smoke --out /tmp/tessera.zip --offline
    TESSERA_TEST_OFFLINE=/tmp/tessera.zip python -m pytest -s tests/package/test_offline_smoke.py

The engine of the namespace has no image, and the home folder is empty, so no cache can help.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
import yaml

from tessera.core.files import repo_root

PACKAGE = os.environ.get("TESSERA_TEST_OFFLINE", "")
NEEDED = ("unshare", "ip", "dockerd", "docker")


def reason_to_skip() -> str:
    """Why the test cannot run here; empty if it can."""
    if not PACKAGE:
        return "TESSERA_TEST_OFFLINE does not name a package"
    if os.geteuid() != 0:
        return "a network namespace with an engine needs root"
    absent = [name for name in NEEDED if shutil.which(name) is None]
    return f"not installed: {', '.join(absent)}" if absent else ""


pytestmark = [pytest.mark.slow, pytest.mark.skipif(bool(reason_to_skip()), reason=reason_to_skip())]


def unpack(package: Path, folder: Path) -> Path:
    """The unpacked package without its results, so that every step runs; files keep their executable bits."""
    with zipfile.ZipFile(package) as archive:
        for info in archive.infolist():
            if info.filename.split("/")[1] != "results":
                path = Path(archive.extract(info, folder))
                path.chmod((info.external_attr >> 16) & 0o777 or 0o644)
    return next(folder.iterdir())


def differing(ours: Path, theirs: Path, names: list[str]) -> list[str]:
    """Names of files that are absent in ``ours`` or have other bytes than in ``theirs``."""
    return [
        name
        for name in names
        if not (ours / name).is_file() or (ours / name).read_bytes() != (theirs / name).read_bytes()
    ]


@pytest.fixture
def place():
    """A folder with a short path that belongs to nobody else; removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="offline-", dir="/var/tmp"))
    yield folder
    shutil.rmtree(folder)


def test_cells_are_those_of_a_run_with_a_network(place):
    with_network = repo_root() / "results" / "smoke"
    config = yaml.safe_load((repo_root() / "config" / "smoke.yaml").read_text())
    cells = [f"cells/{w}/{p}.csv" for w in config["workloads"] for p in config["platforms"]]
    if absent := [name for name in cells if not (with_network / name).is_file()]:
        pytest.skip(f"results/smoke has no {absent[0]} to compare with: ./run smoke")
    unpacked = unpack(Path(PACKAGE), place / "unpacked")
    for name in ("home", "engine"):
        (place / name).mkdir()
    start = time.monotonic()
    script = Path(__file__).with_name("no_network.sh")
    done = subprocess.run(
        [script, place / "engine", "./run", "--offline", "smoke"],
        cwd=unpacked,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(place / "home")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    print(f"./run --offline smoke: {time.monotonic() - start:.0f} s")
    assert "loading" in done.stdout  # the images came from the package
    assert differing(unpacked / "results" / "smoke", with_network, cells) == []
