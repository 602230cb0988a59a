"""What the launcher and the library accept, refuse and say; no huge page needed."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest

from tessera.machine.program_paths import preloadable
from tessera.measure.mosalloc import read_report
from tessera.measure.mosalloc.memory_needs import DEFAULT_POOL_BYTES

pytestmark = pytest.mark.toolchain


def test_python_runs_in_4kb_pools(launch, layout, tmp_path):
    report = tmp_path / "r.json"
    done = launch(
        "--layout", layout(), "--report", report, "--", sys.executable, "-c", "print(sum(range(10**6)))"
    )
    assert (done.returncode, done.stdout) == (0, "499999500000\n"), done.stderr
    found = read_report(report)
    assert found.confirmed and found.used_bytes["brk"] > 0 and found.used_bytes["mmap"] > 0


def compiled(tmp_path, *flags: str) -> str:
    source = tmp_path / "p.c"
    source.write_text("int main(void) { return 0; }\n")
    out = tmp_path / "p"
    done = subprocess.run(["cc", *flags, "-o", str(out), str(source)], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"cc {' '.join(flags)}: {done.stderr.splitlines()[0] if done.stderr else 'failed'}")
    return str(out)


def test_static_programs_are_refused(launch, layout, tmp_path):
    done = launch("--layout", layout(), "--", compiled(tmp_path, "-static"))
    assert done.returncode == 2
    assert "statically linked" in done.stderr and "without -static" in done.stderr


def test_musl_programs_are_refused(launch, layout, tmp_path):
    program = compiled(tmp_path, "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    done = launch("--layout", layout(), "--", program)
    assert done.returncode == 2 and "ld-musl-x86_64.so.1" in done.stderr


def test_set_user_id_programs_are_refused(launch, layout, tmp_path):
    program = tmp_path / "suid"
    shutil.copy("/bin/true", program)
    if os.geteuid() != 0:
        pytest.skip("needs root, to make a file of another user")
    os.chown(program, 65534, 65534)
    program.chmod(0o4755)
    done = launch("--layout", layout(), "--", program)
    assert done.returncode == 2 and "AT_SECURE" in done.stderr


def test_scripts_are_refused_with_their_interpreter(launch, layout, tmp_path):
    script = tmp_path / "s.sh"
    script.write_text("#!/usr/bin/env bash\ntrue\n")
    script.chmod(0o755)
    done = launch("--layout", layout(), "--", script)
    assert done.returncode == 2 and f"name its interpreter: -- bash {script}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "fragment"),
    [
        ((), "--layout: not given"),
        (("--layout", "L.csv"), "PROGRAM: not given"),
        (("--layout", "L.csv", "--", "no-such-program"), "no-such-program: "),
        (("--layout", "L.csv", "--", "/no/such"), "program /no/such: "),
        (("--fast",), ": --layout, --report"),
        (("--layout",), "mosalloc-run: --layout: "),
        (("--layout", "/no/such.csv", "--", "true"), "layout /no/such.csv: "),
    ],
    ids=[
        "arguments0---layout: not given",
        "arguments1-PROGRAM: not given",
        "arguments2-no-such-program: not found in PATH",
        "arguments3-program /no/such: no such file",
        "arguments4-use one of: --layout, --report",
        "arguments5-its value is missing",
        "arguments6-layout /no/such.csv: cannot be opened",
    ],
)
def test_wrong_requests_say_what_to_do(launch, arguments, fragment):
    done = launch(*arguments)
    assert done.returncode == 2
    assert fragment in done.stderr and done.stderr.count("what to do: ") == 1


@pytest.mark.parametrize("option", ["--report", "--analyze"])
@pytest.mark.parametrize(
    "name", ["", "none/x.json", "layout.csv/x.json"], ids=["folder", "no folder", "below a file"]
)
def test_an_output_that_cannot_be_written_stops_the_program_before_it_runs(
    launch, layout, tmp_path, option, name
):
    done = launch("--layout", layout(), option, tmp_path / name, "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (2, "")
    assert str(tmp_path / name) in done.stderr and done.stderr.count("what to do: ") == 1
    assert os.listdir(tmp_path) == ["layout.csv"]


@pytest.mark.parametrize("option", ["--report", "--analyze"])
@pytest.mark.parametrize("size", [1, 100_000], ids=["one buffer", "many buffers"])
def test_a_full_disk_is_noticed(launch, layout, option, size):
    done = launch("--layout", layout(), option, "/dev/full", "--", "printf", "ran\n%.0s", "x" * size)
    assert (done.returncode, done.stdout) == (1, "ran\n")
    assert "/dev/full" in done.stderr and os.strerror(errno.ENOSPC) in done.stderr


def test_report_and_analysis_need_files_of_their_own(launch, layout, tmp_path):
    out = tmp_path / "x.json"
    done = launch("--layout", layout(), "--report", out, "--analyze", out, "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (2, "") and not out.exists()


def test_bad_layouts_stop_the_program_before_it_runs(launch, layout, tmp_path):
    report = tmp_path / "r.json"
    done = launch("--layout", layout("mmap,2MB,1MB,3MB"), "--report", report, "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (2, "")
    assert re.search(
        r"line 4, column startOffset: '1MB': must be a multiple of the page size 2MB", done.stderr
    )
    assert read_report(report).verdict == "unchecked"


def test_missing_huge_pages_fall_back_only_when_allowed_and_recorded(launch, layout, tmp_path):
    pools = "type,pageSize,startOffset,endOffset\nmmap,-1,0,8TB\n"
    path, report = layout("mmap,2MB,0,4TB", pools=pools), tmp_path / "r.json"  # more than any machine has
    refused = launch("--layout", path, "--", "echo", "ran")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "asked for 2097152 pages of 2MB (layout line 3): found" in refused.stderr
    done = launch("--layout", path, "--allow-fallback", "--report", report, "--", "echo", "ran")
    assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
    found = read_report(report)
    assert (found.verdict, found.allow_fallback, found.counters["fallback_windows"]) == ("fallback", True, 1)


def test_only_the_target_gets_the_layout(launch, layout, build, tmp_path):
    report = tmp_path / "r.json"
    script = f"ls / > /dev/null; '{build}/cases' brk; exit 4"
    options = ("--report", report, "--verbose", "--target", build / "cases")
    done = launch("--layout", layout(), *options, "--", "sh", "-c", script)
    assert done.returncode == 4
    assert done.stderr.count("mosalloc: layout") == 1
    assert read_report(report).confirmed


def test_a_target_that_never_starts_is_an_error(launch, layout):
    done = launch("--layout", layout(), "--target", "solver", "--", "true")
    assert done.returncode == 2 and "never started" in done.stderr


def test_signals_reach_the_program(build, layout):
    program = """
import signal, time
signal.signal(signal.SIGTERM, lambda *a: exit(9))
print("up", flush=True)
time.sleep(60)
"""
    argv = [str(build / "mosalloc-run"), "--layout", str(layout()), "--", sys.executable, "-c", program]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout.readline() == "up\n"
        running.send_signal(signal.SIGTERM)
        assert running.wait(20) == 9


def test_address_space_limits_are_named(launch, layout):
    import resource

    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))  # noqa: E731
    done = launch("--layout", layout(), "--", "echo", "ran", preexec_fn=limit)
    assert (done.returncode, done.stdout) == (2, "")
    assert "ulimit -v" in done.stderr


def test_unlimited_stacks_put_mappings_low_and_the_pools_above_the_heap(launch, layout, build):
    import resource

    low = lambda: resource.setrlimit(resource.RLIMIT_STACK, (resource.RLIM_INFINITY,) * 2)  # noqa: E731
    done = launch("--layout", layout(), "--", build / "cases", "malloc_sizes", "brk", preexec_fn=low)
    assert done.returncode == 0, done.stderr


def test_pools_full_is_ENOMEM(launch, layout, build):  # noqa: N802
    pools = "type,pageSize,startOffset,endOffset\nbrk,-1,0,16MB\nmmap,-1,0,16MB\n"
    done = launch("--layout", layout(pools=pools), "--", build / "exhaust", 16 << 20)
    assert done.returncode == 0, done.stderr


def test_offsets_are_the_same_under_qemu(launch, layout, build):
    if shutil.which("qemu-x86_64") is None:
        pytest.skip("qemu-x86_64 not found; apt install qemu-user")
    path = layout()
    native = launch("--layout", path, "--", build / "offsets", "3").stdout
    settings = ["-E", f"LD_PRELOAD={preloadable(build / 'libmosalloc.so')}", "-E", f"MOSALLOC_LAYOUT={path}"]
    traced = subprocess.run(
        ["qemu-x86_64", *settings, build / "offsets", "3"], capture_output=True, text=True
    )
    assert native == traced.stdout != ""


def test_the_library_needs_no_more_than_glibc_2_34(build):
    library = build / "libmosalloc.so"
    listed = subprocess.run(["objdump", "-T", library], capture_output=True, text=True).stdout
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+(?:\.\d+)+)", listed)}
    assert max(versions) <= (2, 34)
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True).stdout
    assert re.findall(r"NEEDED.*\[(.*)\]", needed) == ["libc.so.6"]


def test_default_pool_sizes_are_the_librarys(root):
    header = (root / "artifacts/mosalloc/core/layout.h").read_text()
    shifts = re.search(r"kDefaultPoolBytes\[.*?\] = \{(\d+)ull << 30, (\d+)ull << 30, ", header)
    assert [int(n) << 30 for n in shifts.groups()] == [DEFAULT_POOL_BYTES["brk"], DEFAULT_POOL_BYTES["mmap"]]


def test_a_policy_against_patching_is_a_refusal(launch, layout):
    """PR_SET_MDWE (Linux 6.3) denies code pages that were ever writable."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    set_mdwe, refuse_exec_gain = 65, 1
    probe = f"import ctypes; raise SystemExit(ctypes.CDLL(None).prctl({set_mdwe}, 1, 0, 0, 0) != 0)"
    if subprocess.run([sys.executable, "-c", probe]).returncode != 0:
        pytest.skip("this kernel has no PR_SET_MDWE (Linux 6.3)")
    deny = lambda: libc.prctl(set_mdwe, refuse_exec_gain, 0, 0, 0)  # noqa: E731
    done = launch("--layout", layout(), "--", "echo", "ran", preexec_fn=deny)
    assert (done.returncode, done.stdout) == (2, "")
    assert "PR_SET_MDWE" in done.stderr


def test_an_exec_of_another_program_is_unchecked_not_confirmed(launch, layout, tmp_path):
    report = tmp_path / "r.json"
    code = "import os; os.execvp('sleep', ['sleep', '0'])"
    done = launch("--layout", layout(), "--report", report, "--", sys.executable, "-c", code)
    found = read_report(report)
    assert found.verdict == "unchecked" and done.returncode == 1
    assert found.reason in done.stderr and re.search("SIGKILL.*exec", found.reason)


def test_a_refusal_inside_a_script_is_not_lost(launch, layout, build):
    path = layout("mmap,2MB,1MB,3MB")
    done = launch(
        "--layout", path, "--target", build / "cases", "--", "sh", "-c", f"'{build}/cases' brk; exit 0"
    )
    assert done.returncode == 2 and "[layout/alignment]" in done.stderr


def test_help_teaches(launch):
    done = launch("--help")
    assert done.returncode == 0
    for needed in ("type,pageSize,startOffset,endOffset", "--target", "vm.nr_hugepages", "Exit status"):
        assert needed in done.stdout
