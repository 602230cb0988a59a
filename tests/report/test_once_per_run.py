"""What all processes of a run share is made by the first of them."""

from __future__ import annotations

import pytest

from tests.report.conftest import once_per_run


class Factory:
    """As pytest's, of one worker of pytest-xdist: their folders lie side by side."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def getbasetemp(self):
        return self.folder


def test_the_second_worker_gets_what_the_first_made(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_XDIST_WORKER", "gw0")
    made = []

    def make(folder):
        folder.mkdir()
        (folder / "half").touch()
        made.append(folder)
        if len(made) == 1:
            raise OSError("no space left")

    one, other = (Factory(tmp_path / name) for name in ("gw0", "gw1"))
    with pytest.raises(OSError, match="no space"):
        once_per_run(one, "site", make)
    assert once_per_run(other, "site", make) == once_per_run(one, "site", make) == tmp_path / "site"
    assert len(made) == 2  # the one that failed was made again, from nothing


def test_without_workers_it_lies_in_the_folder_of_the_run(tmp_path, monkeypatch):
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    found = once_per_run(Factory(tmp_path / "run"), "site", lambda folder: folder.mkdir())
    assert found == tmp_path / "run" / "site"
