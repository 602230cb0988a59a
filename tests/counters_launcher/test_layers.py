"""Includes of the component go downward only, as its README says; the launcher and the hook share a page."""

from __future__ import annotations

import re

import pytest

from tests.mosalloc.needed_symbols import OLDEST_GLIBC, needed_symbols

SYSTEM_LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2"}
ALLOWED = {  # tessera: artifacts/common
    "include/counters": {"counters", "tessera"},
    "lib": {"counters", "tessera"},
    "hook": {"hook", "counters", "mosalloc", "tessera"},  # mosalloc/pool_map.h
    "cli": {"counters", "tessera"},
}


@pytest.mark.parametrize("folder", ALLOWED)
def test_includes_go_downward(root, folder):
    files = [
        path for path in (root / "artifacts/counters" / folder).iterdir() if path.suffix in (".h", ".cpp")
    ]
    assert files
    for path in files:
        included = set(re.findall(r'#include "(\w+)/', path.read_text()))
        assert included <= ALLOWED[folder], path


def test_the_hook_patches_what_the_tracer_decodes(root):
    """Three places spell the markers: roi.h, the tracer's plugin, and the hook."""
    places = {
        "workloads/common/roi.h": r"TESSERA_ROI_(?:BEGIN|END)\(\) __asm__ volatile\(\"\.byte ([^\"]*)\"",
        "tracer/plugin/marker.h": r"_marker\[7\] = \{([^}]*)\}",
        "counters/hook/markers.cpp": r"\{(0x0f, 0x1f, 0x80[^}]*)\}",
    }
    spelled = {}
    for name, pattern in places.items():
        lists = re.findall(pattern, (root / "artifacts" / name).read_text())
        words = [[word.strip() for word in one.split(",")] for one in lists]
        spelled[name] = [[ord(w[1]) if w[0] == "'" else int(w, 16) for w in one] for one in words]
    begin, end = [0x0F, 0x1F, 0x80, *b"TSRB"], [0x0F, 0x1F, 0x80, *b"TSRE"]
    assert list(spelled.values()) == [[begin, end]] * 3


@pytest.mark.toolchain
@pytest.mark.parametrize("name", ["tessera-count", "libtessera-roi.so"])
def test_every_host_with_glibc_2_34_can_run_it(launchers, name):
    found = needed_symbols(launchers / name)
    assert found.glibc() and max(found.glibc()) <= OLDEST_GLIBC, found.versions
    assert "libc.so.6" in found.libraries and set(found.libraries) <= SYSTEM_LIBRARIES
