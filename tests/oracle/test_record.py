"""What a run in the guest asks of the host, with a function in the guest's place."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tessera.core.errors import TesseraError
from tessera.lab.kernel.guest import GuestRun, Look
from tessera.lab.oracle import guest_runs

EVENTS = np.array([0, 1, 2, 3, 4], dtype=np.uint32)
RESULTS = np.array([8, 0, 16, 24, 32], dtype="<u4")


class Oracle(guest_runs.Oracle):
    """An oracle whose guest's memory has the results at address 0x1000."""

    def __init__(self):
        super().__init__(None, Path(), None, None)

    def file(self, name):
        return name.encode()

    def reader(self, look):
        memory = SimpleNamespace(read=lambda at, count: RESULTS.view(np.uint8)[at - 0x1000 :][:count])
        return SimpleNamespace(memory=memory, text=lambda: "a state\n")


@pytest.fixture
def guest(monkeypatch, tmp_path):
    """Calls the host's function as the guest does, and returns what the run was given."""
    given = {}

    def run(tools, program, script, out, *, on_walk=None, files=None, status=0, **_):
        given.update(script=script, files=files)
        for name, roots in given.get("looks", ()):
            assert on_walk(Look(name, roots, [0x7000], None, 0)) is False
        return GuestRun(given.get("status", 0), tmp_path, "6.12.117", 1.0)

    monkeypatch.setattr(guest_runs, "run_in_guest", run)
    return given


def test_blocks_of_events_and_the_frames_so_far(guest, tmp_path):
    guest["looks"] = [(f"block-{index}", {"results": 0x1000}) for index in range(4)]
    seen = []
    guest_runs.run_events(
        Oracle(), EVENTS, 2, tmp_path, lambda done, state, frames: seen.append((done, frames.tolist()))
    )
    assert seen == [(0, []), (2, [7, -1]), (4, [7, -1, 15, 23]), (5, [7, -1, 15, 23, 31])]
    assert np.frombuffer(guest["files"]["/run/events"], "<u4").tolist() == EVENTS.tolist()
    assert "block=2" in guest["script"]


def test_a_run_that_failed_is_an_error(guest, tmp_path):
    guest["status"] = 1
    with pytest.raises(TesseraError, match=str(tmp_path)):
        guest_runs.run_files(Oracle(), ["file 1 4096"], tmp_path)


def test_a_warning_of_the_kernel_is_an_error(guest, tmp_path):
    (tmp_path / "dmesg").write_text("[ 1.0] BUG: Bad page state\n")
    with pytest.raises(TesseraError, match="Bad page state"):
        guest_runs.run_copies(Oracle(), ["fork 1"], Path(tmp_path))


def test_states_of_all_moments(guest, tmp_path):
    guest["looks"] = [("fresh", {}), ("fragmented-1", {})]
    (tmp_path / "fresh").write_text("before buddyinfo\n")
    found = guest_runs.run_counts(Oracle(), tmp_path)
    assert found == {"fresh": ("a state\n", "before buddyinfo\n"), "fragmented-1": ("a state\n", "")}
