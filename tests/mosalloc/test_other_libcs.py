"""The library and its launcher under other C libraries: older and newer glibc, and musl."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

from tessera.core.checks import FAIL, PASS, SKIP
from tessera.core.errors import TesseraError
from tessera.lab.allocator_proof.suite import c_libraries, other_glibc
from tessera.lab.allocator_proof.suite.c_libraries import (
    BASES_VARIABLE,
    BaseMissing,
    CLibrary,
    bases,
    image_of,
)
from tessera.lab.allocator_proof.suite.section import ProofSettings
from tessera.machine.container.engine import DOCKER, container_engine_name
from tessera.machine.program_paths import preloadable
from tests.mosalloc.needed_symbols import OLDEST_GLIBC, glibc_version, needed_symbols

pytestmark = pytest.mark.toolchain

SHARED = ("libmosalloc.so", "mosalloc-run", "cases", "differential")
SYSTEM_LIBRARIES = {"libc.so.6", "ld-linux-x86-64.so.2"}


@pytest.mark.parametrize("name", SHARED)
def test_no_symbol_is_newer_than_glibc_2_34(build, name):
    found = needed_symbols(build / name)
    assert found.glibc()  # it uses glibc, so its versions must be found
    assert max(found.glibc()) <= OLDEST_GLIBC, found.versions


@pytest.mark.parametrize("name", ["libmosalloc.so", "mosalloc-run"])
def test_nothing_but_glibc_is_needed(build, name):
    found = needed_symbols(build / name)
    assert "libc.so.6" in found.libraries and set(found.libraries) <= SYSTEM_LIBRARIES


@pytest.mark.parametrize(("symbol", "version"), [("arc4random", (2, 36)), ("_dl_find_object", (2, 35))])
def test_a_newer_symbol_is_found(tmp_path, symbol, version):
    """The reader must see a version after 2.34, also of a symbol that no code runs into."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler (cc); apt install gcc libc6-dev")
    source, library = tmp_path / "new.c", tmp_path / "libnew.so"
    source.write_text(f"int {symbol}();\nint never(void) {{ return {symbol}(); }}\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    assert max(needed_symbols(library).glibc()) == version > OLDEST_GLIBC


def test_versions_are_numbers():
    assert glibc_version("GLIBC_2.4") < glibc_version("GLIBC_2.34") < glibc_version("GLIBC_2.100")
    assert glibc_version("GLIBC_PRIVATE") > OLDEST_GLIBC


def test_what_is_no_elf_file_is_an_error(tmp_path):
    path = tmp_path / "text"
    path.write_text("text")
    with pytest.raises(TesseraError, match=str(path)):
        needed_symbols(path)


@pytest.fixture
def newer():
    """Tag of the image with the C library of Debian 13; SKIP with the reason if it can't be had."""
    if container_engine_name() != DOCKER:
        pytest.skip("a container holds the other C library: use the engine docker")
    try:
        with image_of(CLibrary("2.41", "Debian 13", "built"), print) as tag:
            yield tag
    except BaseMissing as reason:
        pytest.skip(str(reason))


@pytest.fixture
def settings(tmp_path):
    return ProofSettings(tmp_path, print)


def test_cases_and_random_calls_under_debian_13(build, newer, settings, monkeypatch):
    """fork_late_lock is part of the check of each case: the lock must be taken inside this fork, too."""
    monkeypatch.setattr(other_glibc, "CONDITIONS", ("kernel", "4kb"))
    checks = {check.name: check for check in other_glibc.run(settings).checks}
    assert {c.found for c in checks.values() if c.status == FAIL} == set()
    for condition in ("kernel", "4kb"):
        passed = [
            name for name in other_glibc.case_names() if checks[f"2.41 {condition}.{name}"].status == PASS
        ]
        assert passed == other_glibc.case_names() and len(passed) >= 28
    assert {checks[f"2.41 random calls, {threads} threads"].status for threads in (1, 4)} == {PASS}
    given = [base.version for base in bases()]
    for version in ("2.35", "2.39"):
        if version in given and version in checks:
            assert checks[version].status == SKIP and f"{BASES_VARIABLE}={version}=" in checks[version].found


@pytest.mark.hugepages
def test_windows_under_debian_13(build, newer, settings, huge_pages, monkeypatch):
    huge_pages(other_glibc.PAGES_2MB)
    monkeypatch.setattr(other_glibc, "CONDITIONS", ("2mb",))
    checks = {check.name: check for check in other_glibc.run(settings).checks}
    assert {name: checks[f"2.41 2mb.{name}"].found for name in other_glibc.case_names()} == dict.fromkeys(
        other_glibc.case_names(), ""
    )


@pytest.fixture
def short(monkeypatch):
    """Two cases, and only the bases that the test gives."""
    monkeypatch.setattr(c_libraries, "KNOWN_BASES", ())
    monkeypatch.setattr(other_glibc, "CONDITIONS", ("4kb",))
    monkeypatch.setattr(other_glibc, "case_names", lambda: ["fork", "threads"])


@pytest.mark.parametrize("form", ["folder", "tar", "image"])
def test_a_base_can_be_given(build, newer, short, settings, tmp_path, monkeypatch, form):
    """The files of Debian 13 once more, in each form; a wrong version is named."""
    source = f"image:{newer}"
    if form != "image":
        source = tmp_path / "base.tar"
        container = subprocess.run(
            ["docker", "create", newer, "true"], capture_output=True, text=True, check=True
        ).stdout.strip()
        subprocess.run(["docker", "export", "--output", source, container], check=True)
        subprocess.run(["docker", "rm", container], check=True, capture_output=True)
    if form == "folder":
        folder = tmp_path / "base"
        folder.mkdir()
        subprocess.run(["tar", "-C", folder, "--exclude=dev/*", "-xf", source], check=True)
        source = folder
    monkeypatch.setenv(BASES_VARIABLE, f"2.40={source}")
    checks = {check.name: check for check in other_glibc.run(settings).checks}
    assert checks["2.40 version"].status == FAIL and "2.41" in checks["2.40 version"].found
    assert checks["2.40 4kb.fork"].status == checks["2.40 random calls, 4 threads"].status == PASS


def test_a_base_that_is_not_usable_fails_alone(build, newer, short, settings, monkeypatch):
    monkeypatch.setenv(BASES_VARIABLE, f"2.35=/does/not/exist,2.39=image:tessera-none:1,2.41=image:{newer}")
    checks = {check.name: check for check in other_glibc.run(settings).checks}
    assert checks["2.35"].status == FAIL and "/does/not/exist" in checks["2.35"].found
    assert checks["2.39"].status == FAIL and "tessera-none:1" in checks["2.39"].found
    assert checks["2.41 4kb.fork"].status == PASS


@pytest.mark.parametrize("entry", ["2.35", "2.35=", "jammy=/x", "3.1=/x", "2.35=image:"])
def test_entries_that_are_wrong(entry):
    with pytest.raises(TesseraError, match=BASES_VARIABLE) as raised:
        bases({BASES_VARIABLE: entry})
    assert entry in raised.value.asked and raised.value.exit_code == 2


def test_given_bases_replace_known_ones():
    found = {base.version: base.source for base in bases({BASES_VARIABLE: "2.35=/jammy,2.100=image:x:1"})}
    assert list(found) == ["2.35", "2.39", "2.41", "2.100"]
    assert found["2.35"] == "/jammy" and found["2.100"] == "image:x:1"


GOOD = """libc ld.so (Debian GLIBC 2.41-12+deb13u4) stable release version 2.41.
ran 4kb.fork 0
ran plain.1 0
ran library.1 0
ran plain.4 0
ran library.4 0
"""


@pytest.fixture
def judged(tmp_path):
    """``judged(...)``: names of the checks that fail."""

    def run(output=GOOD, late_lock=0, split_pages=0, opened=0, digest="digest 7"):
        report = {
            "counters": {"fork_late_lock": late_lock, "split_pages": split_pages, "opened_bytes": opened},
            "verdict": "confirmed",
        }
        (tmp_path / "4kb.fork.json").write_text(json.dumps(report))
        for name in ("plain.1", "plain.4", "library.4"):
            (tmp_path / f"{name}.log").write_text("digest 7")
        (tmp_path / "library.1.log").write_text(digest)
        found = other_glibc.library_checks(
            "2.41", other_glibc.ScriptRun(output, tmp_path), ["4kb.fork", "plain.1", "library.1"]
        )
        assert len(found) == 4
        return [check.name for check in found if check.status == FAIL]

    return run


def test_failures_that_the_judge_finds(judged):
    assert judged() == []
    assert judged(late_lock=1) == judged(split_pages=1) == judged(opened=1) == ["2.41 4kb.fork"]
    assert judged(output=GOOD.replace("fork 0", "fork 124")) == ["2.41 4kb.fork"]
    assert judged(output=GOOD.replace("ran 4kb.fork 0\n", "")) == ["2.41 4kb.fork"]
    assert judged(output=GOOD.replace("2.41.\n", "2.36.\n")) == ["2.41 version"]
    assert judged(digest="digest 8") == ["2.41 random calls, 1 threads"]
    assert judged(output=GOOD.replace("library.4 0", "library.4 139")) == ["2.41 random calls, 4 threads"]


#: Symbols of glibc that musl does not have: musl ends a program in which one of them is missing and not weak.
ONLY_IN_GLIBC = {"__curbrk", "dladdr1", "__register_atfork", "gnu_get_libc_version"}


def test_symbols_that_only_glibc_has_are_weak(build):
    if shutil.which("readelf") is None:
        pytest.skip("no readelf; apt install binutils")
    listed = subprocess.run(
        ["readelf", "-W", "--dyn-syms", build / "libmosalloc.so"], capture_output=True, text=True, check=True
    ).stdout
    rows = [line.split() for line in listed.splitlines() if " UND " in line]
    kinds = {row[7].partition("@")[0]: row[4] for row in rows if len(row) > 7}
    assert {kinds[name] for name in ONLY_IN_GLIBC} == {"WEAK"}


@pytest.fixture
def musl_program(tmp_path):
    """A program for musl that allocates memory and prints ``ran``."""
    if shutil.which("musl-gcc") is None:
        pytest.skip("no compiler for musl; apt install musl-tools")
    source, program = tmp_path / "musl.c", tmp_path / "musl"
    source.write_text(
        '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(malloc(1 << 20) ? "ran" : "no"); }\n'
    )
    subprocess.run(["musl-gcc", "-o", program, source], check=True)
    return program


def test_musl_programs_are_refused_by_the_library_or_left_alone(build, layout, musl_program):
    """The library starts under musl, and names the reason; programs beside the target run as without it."""
    own = {"LD_PRELOAD": str(preloadable(build / "libmosalloc.so")), "MOSALLOC_LAYOUT": str(layout())}
    for target, expected in (({}, (2, "")), ({"MOSALLOC_TARGET": "other"}, (0, "ran\n")), (
        {"MOSALLOC_TARGET": str(musl_program)}, (2, ""),
    )):  # fmt: skip
        done = subprocess.run(
            [musl_program], env=os.environ | own | target, capture_output=True, text=True, timeout=60
        )
        assert (done.returncode, done.stdout) == expected, done.stderr
        assert (str(musl_program) in done.stderr and "2.34" in done.stderr) == (expected[0] == 2)


def test_a_target_may_start_musl_programs(launch, layout, musl_program):
    script = f"import subprocess; subprocess.run([{str(musl_program)!r}], check=True)"
    done = launch("--layout", layout(), "--", os.path.realpath(sys.executable), "-c", script)
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr


def test_the_launcher_names_the_dynamic_linker_of_musl(launch, layout, musl_program):
    done = launch("--layout", layout(), "--", musl_program)
    assert done.returncode == 2 and "ld-musl-x86_64.so.1" in done.stderr and "2.34" in done.stderr
