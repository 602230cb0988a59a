"""Settings of the kernel: changed with permission only, and restored at the end, by signals, after a kill."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.reserve.machine_state import state_folder, write_record
from tessera.machine.reserve.settings import changed_settings, chosen_word, restore_settings


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two settings as files; the record of changes is in a folder of the test."""
    monkeypatch.setenv("TESSERA_MACHINE_STATE", str(tmp_path / "state"))
    monkeypatch.delenv("TESSERA_RESERVE", raising=False)
    enabled, compact = tmp_path / "enabled", tmp_path / "compact"
    enabled.write_text("always madvise [never]\n")
    compact.write_text("1\n")
    return enabled, compact


def test_values_hold_inside_and_are_restored(files):
    enabled, compact = files
    with changed_settings({enabled: "madvise", compact: "0"}, allowed=True):
        assert (enabled.read_text(), compact.read_text()) == ("madvise", "0")
        assert len(list(state_folder().glob("*.json"))) == 1
    assert (enabled.read_text(), compact.read_text()) == ("never", "1")
    assert not list(state_folder().glob("*.json"))


def test_without_permission_nothing_changes(files):
    with pytest.raises(TesseraError) as refused, changed_settings({files[1]: "0"}):
        pass
    assert refused.value.code == "settings/permission" and "--reserve" in refused.value.remedy
    assert files[1].read_text() == "1\n"


def test_a_rejected_value_restores_the_others(files, tmp_path):
    absent = tmp_path / "no folder" / "x"
    with pytest.raises(TesseraError) as refused, changed_settings({files[1]: "0", absent: "1"}, allowed=True):
        pass
    assert refused.value.code == "settings/rejected" and str(absent) in refused.value.asked
    assert files[1].read_text() == "1"


def test_two_at_a_time_are_refused(files):
    with (
        changed_settings({files[0]: "madvise"}, allowed=True),
        pytest.raises(TesseraError) as refused,
        changed_settings({files[1]: "0"}, allowed=True),
    ):
        pass
    assert refused.value.code == "settings/busy" and files[1].read_text() == "1\n"


@pytest.mark.parametrize("number", [15, 9])
def test_a_signal_and_a_kill_leave_nothing(files, root, number):
    code = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from tessera.machine.reserve.settings import changed_settings\n"
        f"with changed_settings({{Path({str(files[1])!r}): '0'}}, allowed=True):\n"
        f"    os.kill(os.getpid(), {number})\n    signal.pause()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(root / "src")})
    assert done.returncode == (143 if number == 15 else -9)
    assert files[1].read_text() == ("1" if number == 15 else "0")
    assert restore_settings() == ([] if number == 15 else [str(files[1])])
    assert files[1].read_text() == "1" and not list(state_folder().glob("*.json"))


def test_a_record_of_another_boot_restores_nothing(files):
    with changed_settings({files[1]: "0"}, allowed=True):
        (record,) = state_folder().glob("*.json")
        facts = json.loads(record.read_text())
    files[1].write_text("0\n")
    write_record(record.stem, facts | {"boot_id": "another"})
    assert restore_settings() == [] and files[1].read_text() == "0\n" and not record.exists()


def test_a_value_is_the_word_in_brackets(files):
    assert chosen_word(files[0]) == "never" and chosen_word(files[1]) == "1"
