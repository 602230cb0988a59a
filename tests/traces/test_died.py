"""Why a recorded program failed: its signal, an instruction that QEMU lacks, full pools, sanitizers."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tessera.core.errors import TesseraError
from tessera.machine.container.toolchain import DockerToolchain, HostToolchain
from tessera.record import traces
from tessera.record.traces import failures
from tessera.record.traces.failures import LACKING, signal_name, signal_of

MAIN = "int main(int argc, char** argv) { (void)argc; (void)argv;\n"
ROI = "  TESSERA_ROI_BEGIN();\n  TESSERA_ROI_END();\n"
CRASH = "qemu: uncaught target signal {} (Illegal instruction) - core dumped\n"


@pytest.mark.parametrize(
    ("status", "stderr", "number"),
    [
        (1, "", None),
        (-11, "", 11),
        (132, CRASH.format(4), 4),
        (1, f"a script\n{CRASH.format(11)}", 11),
        (134, CRASH.format(4) + CRASH.format(6), 6),
        (137, "", 9),
        (132, "", None),
        (132, "the program printed qemu: uncaught target signal 4 (x)", None),
        (255, "", None),
    ],
)
def test_signals_are_not_confused_with_statuses(status, stderr, number):
    assert signal_of(status, stderr) == number


def test_signals_have_names():
    assert signal_name(4) == "signal 4 (SIGILL, illegal instruction)"
    assert signal_name(40) == f"signal 40 (SIGRTMIN+{40 - signal.SIGRTMIN})"


def test_a_status_of_a_container_names_the_signal_that_it_may_stand_for():
    assert "SIGTERM" in failures._as_after(143)
    assert [failures._as_after(status) for status in (1, 128, 255)] == ["", "", ""]


@pytest.mark.parametrize(("engine", "said"), [(DockerToolchain("tag"), True), (HostToolchain(), False)])
def test_a_file_that_only_the_container_lacks_is_thought_of(tmp_path, engine, said):
    guest = SimpleNamespace(pool_map=tmp_path / "absent", program=Path("/bin/sort"))
    _, remedy = failures.why_it_failed(SimpleNamespace(where=None, engine=engine), guest, 1, "cannot open x")
    assert ("container" in remedy) == said


def listing(code: str) -> list[str]:
    """Lines as ``objdump -dw`` writes them; in ``code``, bytes and text are divided by a bar."""
    bytes_, text = code.split("|")
    return ["\n", "00000000000011d9 <sum>:\n", f"    11d9:\t{bytes_:<21}\t{text}\n"]


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("62 f1 7d 48 ef c0|vpxord %zmm0,%zmm0,%zmm0", "AVX-512"),
        ("62 f3 75 28 25 c2 01|vpternlogd $0x1,%ymm2,%ymm1,%ymm0", "AVX-512"),
        ("c5 f8 92 c8|kmovw  %eax,%k1", "AVX-512"),
        ("c4 e2 78 49 00|ldtilecfg (%rax)", "AMX"),
        ("c4 e2 6b 5e cb|tdpbssd %tmm2,%tmm3,%tmm1", "AMX"),
        ("c4 e2 75 50 c2|{vex} vpdpbusd %ymm2,%ymm1,%ymm0", "AVX-VNNI"),
        ("66 0f 38 cf c1|gf2p8mulb %xmm1,%xmm0", "GFNI"),
        ("0f 38 cb c1|sha256rnds2 %xmm0,%xmm1,%xmm0", "SHA"),
        ("c4 e3 75 44 c2 00|vpclmullqlqdq %ymm2,%ymm1,%ymm0", "VPCLMULQDQ"),
    ],
)
def test_instructions_that_qemu_lacks_are_found(code, name):
    text = " ".join(code.split("|")[1].split())
    assert failures._first_lacking(listing(code), time.monotonic() + 9) == f"{name} (in sum: {text})"


@pytest.mark.parametrize(
    "code",
    [
        "c5 fd 6f 00|vmovdqa (%rax),%ymm0",
        "c4 e3 79 44 c1 00|vpclmullqlqdq %xmm1,%xmm0,%xmm0",
        "62|(bad)",
        "c4 62 f1 f7 c0|shlx   %rcx,%rax,%r8",
        "e8 62 00 00 00|call   1240 <sha256_update>",
        "0f a2|cpuid",
    ],
)
def test_other_instructions_are_not(code):
    assert failures._first_lacking(listing(code), time.monotonic() + 9) is None


def test_the_search_ends_in_time():
    lines = listing("0f a2|cpuid") * 10_000 + listing("0f 38 cb c1|sha256rnds2 %xmm0,%xmm1,%xmm0")
    assert failures._first_lacking(lines, time.monotonic() - 1) is None


#: Source of a program that fails, further flags, and what must be stated as found and in the remedy.
FAILING = {
    "own trap": (
        MAIN + ROI + "__builtin_trap(); }",
        (),
        ("signal 4 (SIGILL", *LACKING, "ud2"),
        ("-march=x86-64-v3", "without tracing"),
    ),
    "isa level": (
        MAIN + ROI + "return 0; }",
        ("-Wl,-z,x86-64-v4",),
        ("did not start", "x86-64-v3"),
        ("-march=x86-64-v3",),
    ),
    "full pool": (
        MAIN + ROI + "volatile char* p = (char*)malloc(100 << 20); p[0] = 1; return p[0] - 1; }",
        (),
        ("signal 11 (SIGSEGV",),
        ("--anon-pool 101MB",),
    ),
}


@pytest.mark.toolchain
@pytest.mark.parametrize("row", FAILING)
def test_a_failed_recording_names_the_cause_and_its_remedy(compiled, tmp_path, row):
    source, flags, found, remedy = FAILING[row]
    with pytest.raises(TesseraError) as caught:
        traces.record_program(
            [compiled("fails", source, *flags)], tmp_path / "t.tst", heap_pool="64MB", anon_pool="64MB"
        )
    for text in found:
        assert text in caught.value.found
    for text in remedy:
        assert text in caught.value.remedy
    assert ("--anon-pool" in caught.value.remedy) == (row == "full pool")


WIDE = """float __attribute__((noinline)) sum(const float* x, int n)
{ float s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
static float x[4096];
"""


@pytest.mark.toolchain
def test_avx_512_is_named_and_the_remedy_works(compiled, tmp_path):
    source = WIDE + MAIN + ROI + "x[argc] = 2; return (int)sum(x, 4096) - 2; }"
    wide = ("-O3", "-ffast-math", "-march=skylake-avx512", "-mprefer-vector-width=512", "-ftree-vectorize")
    with pytest.raises(TesseraError) as caught:
        traces.record_program([compiled("wide", source, *wide)], tmp_path / "t.tst")
    assert "signal 4 (SIGILL" in caught.value.found and "AVX-512 (in " in caught.value.found
    assert "-march=x86-64-v3" in caught.value.remedy and "-mno-avx512f" in caught.value.remedy
    for name, flag in (("older", "-march=x86-64-v3"), ("less", "-mno-avx512f")):
        done = traces.record_program([compiled(name, source, *wide, flag)], tmp_path / "t.tst")
        assert done.returncode == 0


@pytest.mark.toolchain
def test_sanitizers_are_refused_before_the_recording(tmp_path: Path, components):
    """Recorded, AddressSanitizer ends the program or hangs, and ThreadSanitizer's memory lies in no pool."""
    program, source = tmp_path / "p", tmp_path / "p.c"
    source.write_text("int main(void) { return 0; }\n")
    argv = ["cc", "-fsanitize=address", "-o", program, source]
    if subprocess.run(argv, capture_output=True).returncode != 0:
        pytest.skip("no compiler with -fsanitize=address")
    with pytest.raises(TesseraError, match="AddressSanitizer") as caught:
        traces.record_program([program], tmp_path / "t.tst")
    assert caught.value.code == "sanitizer" and str(program) in caught.value.asked
    assert not (tmp_path / "t.tst").exists()
