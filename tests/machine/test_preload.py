"""Paths that LD_PRELOAD can hold: the path itself without a program, else what the launcher answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.machine import program_paths


@pytest.fixture
def launcher(monkeypatch, tmp_path):
    """``launcher(script)``: a stand-in for mosalloc-run."""

    def write(script: str) -> None:
        path = tmp_path / "mosalloc-run"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(program_paths, "built", lambda component, name: tmp_path / name)

    return write


def test_a_path_that_needs_no_link_starts_no_program(launcher):
    launcher("exit 1")
    assert program_paths.preloadable(Path("/usr/lib/x.so")) == Path("/usr/lib/x.so")


@pytest.mark.parametrize("path", ["/a folder/x.so", "/a:b/x.so", "/$LIB/x.so"])
def test_the_launcher_is_asked_for_a_link(launcher, path):
    launcher(f"[ \"$1 $2\" = '--preload-path {path}' ] && echo /tmp/link.so")
    assert program_paths.preloadable(Path(path)) == Path("/tmp/link.so")


def test_its_reason_and_remedy_are_passed_on(launcher):
    launcher("printf 'mosalloc-run: folder /tmp/x: owner 7\\n  what to do: remove it\\n' >&2; exit 2")
    with pytest.raises(TesseraError) as refused:
        program_paths.preloadable(Path("/a folder/x.so"))
    assert (refused.value.found, refused.value.remedy) == ("folder /tmp/x: owner 7", "remove it")
    assert refused.value.code == "preload-path" and "/a folder/x.so" in refused.value.asked
