"""Memory that no preloaded library can catch is detected and said."""

from __future__ import annotations

import re

import pytest

from tessera.measure.mosalloc import read_report

pytestmark = pytest.mark.toolchain

BYTES = 64 << 20


def test_raw_system_calls_are_detected(launch, layout, program, tmp_path):
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", program("raw_calls"), BYTES)
    assert done.returncode == 0, done.stderr
    found = read_report(report)
    assert BYTES <= found.outside["unseen_bytes"] < BYTES + (2 << 20)
    assert found.outside["second_libc"] is False
    assert re.search(r"note: \d+MB .*\braw\b", done.stderr)


def test_without_them_nothing_is_said(launch, layout, build, tmp_path):
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", build / "cases", "threads", "dlopen")
    assert (done.returncode, done.stderr) == (0, "")
    assert read_report(report).outside["unseen_bytes"] < 1 << 20


def test_dlmopen_is_detected(launch, layout, program, tmp_path):
    report = tmp_path / "r.json"
    done = launch("--layout", layout(), "--report", report, "--", program("second_libc"))
    assert done.returncode == 0, done.stderr
    found = read_report(report)
    assert found.outside["second_libc"] is True
    assert found.outside["unseen_bytes"] >= 8 << 20
    assert "second libc (dlmopen)" in done.stderr
