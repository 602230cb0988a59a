"""When a file must be read again."""

import os
import time

import pytest

from tessera.core.files import SETTLED_NS, file_stamp, settled_stamp


@pytest.fixture
def old(tmp_path):
    """A file that was written long ago; its ctime says now, as that of any new file does."""
    path = tmp_path / "file"
    path.write_bytes(b"1234")
    return path


@pytest.fixture
def later(monkeypatch):
    """The clock goes on by twice the time after which a file counts as settled."""
    now = time.time_ns() + 2 * SETTLED_NS
    monkeypatch.setattr(time, "time_ns", lambda: now)


def test_a_new_file_must_be_read_again(old):
    assert settled_stamp(old, file_stamp(old)) is None


def test_a_file_without_a_change_need_not(old, later):
    assert settled_stamp(old, file_stamp(old)) == file_stamp(old)


@pytest.mark.parametrize("change", ["bytes", "size", "replaced"])
def test_a_file_that_changed_meanwhile_must(old, later, change, tmp_path):
    before, times = file_stamp(old), old.stat().st_mtime_ns
    if change == "bytes":
        old.write_bytes(b"4321")
    elif change == "size":
        old.write_bytes(b"12345")
    else:
        (tmp_path / "other").write_bytes(b"1234")
        (tmp_path / "other").replace(old)
    os.utime(old, ns=(times, times))  # a copy that keeps its time is another file all the same
    assert settled_stamp(old, before) is None and file_stamp(old) != before
