"""Programs that a sanitizer's runtime gives another malloc: named before they start, or at their end.

A row is a compiler's command line and the name that the refusal must state; empty: the program must run, and
its heap must lie in the pools.
"""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

pytestmark = pytest.mark.toolchain

SOURCE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    char *p = malloc(100000);
    memset(p, 7, 100000);
    printf("sum %d\n", p[0] + p[99999]);
    free(p);
    return 0;
}
"""
ROWS = {
    "asan": ("gcc -fsanitize=address", "AddressSanitizer"),
    "asan-static": ("gcc -fsanitize=address -static-libasan", "AddressSanitizer"),
    "asan-stripped": ("gcc -fsanitize=address -static-libasan -s", "AddressSanitizer"),
    "tsan": ("gcc -fsanitize=thread", "ThreadSanitizer"),
    "tsan-stripped": ("gcc -fsanitize=thread -static-libtsan -s", "ThreadSanitizer"),
    "lsan": ("gcc -fsanitize=leak", "LeakSanitizer"),
    "lsan-stripped": ("gcc -fsanitize=leak -static-liblsan -s", "LeakSanitizer"),
    "ubsan": ("gcc -fsanitize=undefined", ""),
    "ubsan-static": ("gcc -fsanitize=undefined -static-libubsan", ""),
    "named-only": ("gcc", ""),
    "clang-asan": ("clang -fsanitize=address -s", "AddressSanitizer"),
    "clang-asan-shared": ("clang -fsanitize=address -shared-libsan", "AddressSanitizer"),
    "clang-tsan": ("clang -fsanitize=thread -s", "ThreadSanitizer"),
    "clang-lsan": ("clang -fsanitize=leak -s", "LeakSanitizer"),
    "clang-msan": ("clang -fsanitize=memory -s", "MemorySanitizer"),
    "clang-ubsan": ("clang -fsanitize=undefined", ""),
}
#: Keeps the sanitizers alive beside a preloaded library and a tracer, so that a test sees what then happens.
ALIVE = {"ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0", "LSAN_OPTIONS": "detect_leaks=0"}


def compiled(folder, compiler: str, *flags: str, source: str = SOURCE, name: str = "program"):
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    (folder / "source.c").write_text(source)
    argv = [compiler, "-O1", "-fno-builtin", "-o", folder / name, folder / "source.c", *flags]
    done = subprocess.run(argv, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{compiler} {' '.join(flags)}: {done.stderr.splitlines()[0]}")
    return folder / name


@pytest.mark.parametrize("row", ROWS)
def test_a_sanitizer_is_named_before_the_start_or_the_program_runs(launch, layout, tmp_path, row):
    line, sanitizer = ROWS[row]
    compiler, *flags = line.split()
    source = SOURCE.replace("sum", "__asan_init ASAN_OPTIONS sum") if row == "named-only" else SOURCE
    program, report = compiled(tmp_path, compiler, *flags, source=source), tmp_path / "report.json"
    done = launch("--layout", layout(), "--report", report, "--", program)
    if sanitizer:
        assert (done.returncode, done.stdout) == (2, "")
        assert f"built with {sanitizer}" in done.stderr
        assert f"without {flags[0]}," in done.stderr.split("what to do: ")[1]
    else:
        assert done.returncode == 0 and done.stdout.endswith("sum 14\n"), done.stderr
        pools = {pool["type"]: pool for pool in json.loads(report.read_text())["pools"]}
        assert pools["brk"]["used_bytes"] >= 100000


def test_the_launcher_tells_which_sanitizer_a_file_has(launch, tmp_path):
    """The recorder asks it, before QEMU starts the program."""
    files = {"plain": "", "leak": "LeakSanitizer"}
    for kind, name in files.items():
        program = compiled(tmp_path, "gcc", *([f"-fsanitize={kind}"] if name else []), name=kind)
        done = launch("--sanitizer", program)
        assert (done.returncode, done.stdout) == (0, f"{name}\n")
    assert launch("--sanitizer", tmp_path / "source.c").stdout == "\n"
    assert launch("--sanitizer").returncode == 2


def test_a_program_may_read_the_file_of_a_runtime(launch, layout, tmp_path):
    """As linkers do: only code of the runtime is a sanitizer."""
    runtime = tmp_path / "libasan.so.8"
    runtime.write_bytes(bytes(8192))
    source = (
        "#include <fcntl.h>\n#include <sys/mman.h>\nint main(int n, char **words) {"
        "return mmap(0, 8192, PROT_READ, MAP_PRIVATE, open(words[1], O_RDONLY), 0) == MAP_FAILED; }"
    )
    done = launch("--layout", layout(), "--", compiled(tmp_path, "gcc", source=source), runtime)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("how", ["behind a starter", "by the name of the target"])
@pytest.mark.parametrize(("kind", "status"), [("address", 1), ("thread", 1)])
def test_what_could_not_be_seen_before_is_named_at_the_end(
    launch, layout, tmp_path, monkeypatch, how, kind, status
):
    """The program runs, but its memory lies in no pool: neither the status nor the verdict hides this."""
    for name, value in ALIVE.items():
        monkeypatch.setenv(name, value)
    program, report = compiled(tmp_path, "gcc", f"-fsanitize={kind}"), tmp_path / "report.json"
    words = (
        ("--", "env", program)
        if how == "behind a starter"
        else ("--target", program.name, "--", "sh", "-c", program)
    )
    done = launch("--layout", layout(), "--report", report, *words)
    assert (done.returncode, done.stdout) == (status, "sum 14\n")
    assert "built with " in done.stderr and str(program) in done.stderr
    found = json.loads(report.read_text())
    assert found["verdict"] == "unchecked" and "Sanitizer" in found["reason"]
    assert {pool["used_bytes"] for pool in found["pools"] if pool["type"] == "brk"} == {0}


def test_a_program_that_its_sanitizer_ends_at_the_start_is_no_unknown_failure(launch, layout, tmp_path):
    program = compiled(tmp_path, "gcc", "-fsanitize=address")
    done = launch("--layout", layout(), "--", "env", program)
    assert (done.returncode, done.stdout) == (2, "")
    assert "built with AddressSanitizer" in done.stderr and "never started" not in done.stderr


def test_a_library_with_a_sanitizer_is_named(launch, layout, tmp_path):
    library = compiled(
        tmp_path, "gcc", "-shared", "-fPIC", "-fsanitize=thread",
        source="int seven(void) { return 7; }\n", name="libseven.so",
    )  # fmt: skip
    program = compiled(
        tmp_path, "gcc", str(library), f"-Wl,-rpath,{tmp_path}",
        source="int seven(void);\nint main(void) { return seven() - 7; }\n",
    )  # fmt: skip
    done = launch("--layout", layout(), "--", program)
    assert done.returncode == 1 and "ThreadSanitizer" in done.stderr and str(program) in done.stderr


def test_another_program_of_a_script_is_a_note(launch, layout, tmp_path, monkeypatch):
    """It does not get the layout, but the preloaded library ends it: the note's variables let it run."""
    other = compiled(tmp_path, "gcc", "-fsanitize=address", name="other")
    target = compiled(tmp_path, "gcc", name="target")
    words = ("--layout", layout(), "--target", target, "--", "sh", "-c", f"{other}; {target}")
    done = launch(*words)
    assert (done.returncode, done.stdout) == (0, "sum 14\n")
    assert str(other) in done.stderr
    assert " ".join(f"{name}={value}" for name, value in ALIVE.items()) in done.stderr
    for name, value in ALIVE.items():
        monkeypatch.setenv(name, value)
    assert launch(*words).stdout == "sum 14\nsum 14\n"


def test_a_preloaded_runtime_is_named(launch, layout, tmp_path, monkeypatch):
    argv = ["gcc", "-print-file-name=libasan.so"]
    found = subprocess.run(argv, capture_output=True, text=True).stdout.strip()
    if "/" not in found:
        pytest.skip("gcc has no libasan")
    monkeypatch.setenv("LD_PRELOAD", found)
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    done = launch("--layout", layout(), "--", "true")
    assert done.returncode == 2 and f"LD_PRELOAD={found}" in done.stderr and "AddressSanitizer" in done.stderr
