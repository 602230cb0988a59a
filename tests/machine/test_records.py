"""Records of reserved pages and changed settings: only those of killed processes are used, and once."""

from __future__ import annotations

import fcntl
import json

import pytest

from tessera.core.units import PAGE_2MB
from tessera.machine.reserve import reservation, settings
from tessera.machine.reserve.reservation import BOOT_ID, ReservationFile


@pytest.fixture
def pool(tmp_path, monkeypatch):
    """A checkout of its own, and a pool of 100 pages of 2MB that only records change."""
    total = {PAGE_2MB: 100}
    monkeypatch.setenv("TESSERA_ROOT", str(tmp_path))
    monkeypatch.setattr(reservation, "huge_pages_total", lambda size: total[size])
    monkeypatch.setattr(reservation, "set_total", lambda size, count: total.update({size: count}))
    return total


def left_behind(**facts):
    """The record of a process that was killed."""
    path = reservation.records_folder() / "0.json"
    added = {str(PAGE_2MB): 30}
    path.write_text(json.dumps({"boot_id": BOOT_ID.read_text().strip(), "pid": 1, "added": added} | facts))
    return path


def locking(monkeypatch, before):
    """Call ``before`` in the moment between the opening of a record and its lock."""
    real = fcntl.flock

    def flock(stream, operation):
        if str(stream.name).endswith((".json", ".new")):
            before()
        real(stream, operation)

    monkeypatch.setattr(fcntl, "flock", flock)


def test_a_record_that_was_left_behind_is_taken_back_once(pool):
    left_behind()
    assert reservation.restore_leftovers() == {PAGE_2MB: 30} and pool == {PAGE_2MB: 70}
    assert reservation.restore_leftovers() == {} and pool == {PAGE_2MB: 70}


def test_two_processes_take_a_record_back_once(pool, monkeypatch):
    """Both opened it; the other one locked it first, took the pages back, and removed it."""
    path = left_behind()
    locking(monkeypatch, lambda: path.unlink(missing_ok=True))
    assert reservation.restore_leftovers() == {} and pool == {PAGE_2MB: 100}


def test_a_record_that_goes_before_it_is_opened_is_none(pool):
    """A name in the folder whose file is gone, as between the listing and the opening."""
    (reservation.records_folder() / "gone.json").symlink_to("nowhere")
    (settings.settings_folder() / "gone.json").symlink_to("nowhere")
    assert reservation.restore_leftovers() == {} and settings.restore_settings() == []


def test_a_record_has_its_name_only_when_it_is_locked(pool, monkeypatch):
    """Else another process could take it for one that was left behind, and remove it."""
    seen = []
    locking(
        monkeypatch, lambda: seen.append([one.name for one in reservation.records_folder().glob("*.json")])
    )
    record = ReservationFile()
    assert seen == [[]] and record.path.exists()
    assert reservation.restore_leftovers() == {} and record.path.exists()  # its owner lives
    record.close()
    assert list(reservation.records_folder().glob("*.json")) == []


def test_settings_that_another_process_restored_are_left(pool, monkeypatch, tmp_path):
    changed = tmp_path / "setting"
    changed.write_text("of another run")
    path = settings.settings_folder() / "1.json"
    path.write_text(json.dumps({"boot_id": BOOT_ID.read_text().strip(), "before": {str(changed): "old"}}))
    locking(monkeypatch, lambda: path.unlink(missing_ok=True))
    assert settings.restore_settings() == [] and changed.read_text() == "of another run"
