"""The library's own environment, without the launcher: defaults, choices, and what a wrong value says."""

from __future__ import annotations

import os
import re
import subprocess

import pytest

from tessera.machine.program_paths import preloadable

pytestmark = pytest.mark.toolchain


def run(build, layout, **variables):
    environment = dict(os.environ) | {
        "LD_PRELOAD": str(preloadable(build / "libmosalloc.so")),
        "MOSALLOC_LAYOUT": str(layout()),
        **variables,
    }
    return subprocess.run(["echo", "ran"], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("variable", "value", "allowed"),
    [
        ("MOSALLOC_PREFAULT", "yes", "0 1"),
        ("MOSALLOC_ALLOW_FALLBACK", "2", "0 1"),
        ("MOSALLOC_HINTS", "maybe", "kernel pool"),
        ("MOSALLOC_STACKS", "ker", "kernel pool"),
        ("MOSALLOC_PROTECTIONS", "", "soft guards exact"),
        ("MOSALLOC_KEEP_BYTES", "1GB", "a number of bytes"),
        ("MOSALLOC_KEEP_BYTES", "9" * 19, "a number of bytes"),
    ],
)
def test_wrong_values_stop_the_program_and_name_the_right_ones(build, layout, variable, value, allowed):
    done = run(build, layout, **{variable: value})
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(rf"\b{variable}: .*: {allowed}\n", done.stderr)
    assert done.stderr.count("what to do: ") == 1


def test_verbose_shows_every_option_in_effect(build, layout):
    done = run(build, layout, MOSALLOC_VERBOSE="1", MOSALLOC_PROTECTIONS="exact", MOSALLOC_KEEP_BYTES="4096")
    assert (done.returncode, done.stdout) == (0, "ran\n")
    said = (
        "prefault 1, allow fallback 0, hints kernel, stacks kernel, protections exact, keep bytes 4096, "
        "reservations kernel, thp kernel"
    )
    assert said in done.stderr
    assert len(re.findall(r"pool at 0x[0-9a-f]+ of ", done.stderr)) == 2


def test_every_variable_of_the_library_is_documented(root):
    source = (root / "artifacts/mosalloc/preload/options.cpp").read_text()
    readme = (root / "artifacts/mosalloc/README.md").read_text()
    variables = set(re.findall(r'\{"(MOSALLOC_\w+)"', source))
    assert len(variables) >= 10
    assert {name for name in variables if f"`{name}`" not in readme} == set()


def test_every_counter_of_the_report_is_a_field_of_the_map(root):
    """A counter that the library counts and nobody can read is as good as none."""
    header = (root / "artifacts/mosalloc/include/mosalloc/pool_map.h").read_text()
    writer = (root / "artifacts/mosalloc/run/json.cpp").read_text()
    before, rest = header.split("struct mosalloc_children {")
    children, after = rest.split("};", 1)
    pool_fields = {"size_bytes", "used_bytes", "live_bytes", "page_bytes"}
    for text, name_in_writer, least in ((before + after, "map", 10), (children, "c", 8)):
        counted = re.findall(
            r"^    uint64_t (\w+(?:_pages|_calls|_bytes|_risks|_advice|_protections|_windows));", text, re.M
        )
        assert len(counted) >= least
        written = {name for name in counted if f"{name_in_writer}.{name}" in writer}
        assert set(counted) - pool_fields == written - pool_fields
