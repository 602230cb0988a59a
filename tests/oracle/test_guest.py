"""The guest itself: a short recording, made and compared here. The kernel takes 15 min to build."""

import os

import pytest

from tessera.core.files import built
from tessera.lab.oracle import comparisons
from tessera.lab.oracle.recording import read_history

pytestmark = [
    pytest.mark.slow,
    pytest.mark.toolchain,
    pytest.mark.skipif(os.environ.get("TESSERA_ENGINE") == "none", reason="its tools are in an image"),
    pytest.mark.skipif(
        os.environ.get("TESSERA_TEST_ORACLE") != "1", reason="builds a kernel: set TESSERA_TEST_ORACLE=1"
    ),
]


def test_a_new_recording_is_equal(tmp_path):
    from tessera.lab.oracle.guest_runs import ready_oracle
    from tessera.lab.oracle.recorder import record_history

    programs = comparisons.Programs(
        *(built("imitation", f"tessera-{name}") for name in ("phys", "collapse", "vm"))
    )
    record_history(
        ready_oracle(print, accept_series=True),
        programs,
        tmp_path / "recording",
        tmp_path / "logs",
        events=20_000,
        block=1000,
        seed=7,
        say=print,
    )
    recording, events = read_history(tmp_path / "recording")
    rows = comparisons.comparison_rows(recording, events, programs)
    assert len(rows) >= 15 and comparisons.disagreements(rows) == []
    assert recording.facts["block_by_block"]["blocks_with_equal_state"] == 20
