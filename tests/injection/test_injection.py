"""Every writer keeps the old or the new files, and says what to do, whatever call on a file fails.

The whole, some 7,000 points, is a command: ``python -P tests/injection/driver.py``.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
SAMPLE = 60  #: points of a writer
FEWEST = 1000  #: points of all, so that a writer that no longer meets its faults is seen

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler: apt-get install gcc"),
]


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> dict[str, dict]:
    """What the driver found, by writer."""
    path = tmp_path_factory.mktemp("injection") / "found.json"
    command = [sys.executable, "-P", HERE / "driver.py", "--sample", str(SAMPLE), "--json", path]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert path.exists(), done.stdout[-3000:]
    return {one["writer"]: one for one in json.loads(path.read_text())}


def test_each_file_is_the_old_or_the_new_one_and_a_message_says_what_to_do(found):
    wrong = [
        " ".join(map(str, (name, *(one.get(key) for key in ("kind", "number", "error", "path", "problems")))))
        for name, table in found.items()
        for one in table["failures"]
    ]
    assert not wrong, "\n".join(wrong)


def test_the_faults_were_met(found):
    assert sum(table["points"] for table in found.values()) >= FEWEST
    assert [name for name, table in found.items() if table["missed"]] == []
