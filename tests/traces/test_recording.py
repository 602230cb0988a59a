"""Recorded accesses against what the program's source says it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tessera.core.errors import TesseraError
from tessera.record import traces

pytestmark = pytest.mark.toolchain

BYTES = 8 * 1024 * 1024  # above malloc's mmap threshold: one mapping in the anonymous pool
MAIN = "int main(int argc, char** argv) { (void)argc; (void)argv;\n"
ARRAY = f"""  uint64_t n = {BYTES} / 8;
  volatile uint64_t* a = (volatile uint64_t*)malloc({BYTES});
  for (uint64_t i = 0; i < n; i++) a[i] = i;
"""
END = '  printf("{\\"verified\\":true,\\"base\\":%llu}\\n", (unsigned long long)(uintptr_t)a); return 0; }\n'


def roi(body: str) -> str:
    """The body between the markers."""
    return f"  TESSERA_ROI_BEGIN();\n  {body}\n  TESSERA_ROI_END();\n"


def offsets_in_array(done: traces.Recorded, accesses: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Accesses to the array, as byte offsets from it; the program prints where it is."""
    base = json.loads(done.stdout.splitlines()[-1])["base"]
    return [(kind, address - base) for kind, address in accesses if 0 <= address - base < BYTES]


def test_a_strided_walk_is_recorded_access_by_access(compiled, dumped, tmp_path: Path):
    walk = roi("for (uint64_t i = 0; i < n; i += 16) (void)a[i];")
    done = traces.record_program([compiled("walk", MAIN + ARRAY + walk + END)], tmp_path / "t.tst")
    _, accesses = dumped(done.trace)
    assert offsets_in_array(done, accesses) == [("load", 8 * i) for i in range(0, BYTES // 8, 16)]


def test_loads_and_stores_of_a_read_modify_write(compiled, dumped, tmp_path: Path):
    walk = roi("for (uint64_t i = 5; i < 1005; i++) a[i * 7] += i;")
    done = traces.record_program([compiled("update", MAIN + ARRAY + walk + END)], tmp_path / "t.tst")
    expected = [(kind, 56 * i) for i in range(5, 1005) for kind in ("load", "store")]
    _, accesses = dumped(done.trace)
    assert offsets_in_array(done, accesses) == expected


def test_vector_accesses_count_once(compiled, dumped, tmp_path: Path):
    add = "s = _mm256_add_epi64(s, _mm256_loadu_si256((__m256i*)(a + i)));"
    keep = '__asm__ volatile("" : "+x"(s));'
    walk = "  __m256i s = _mm256_setzero_si256();\n" + roi(
        f"for (int i = 0; i < 4000; i += 4) {{ {add} {keep} }}"
    )
    source = "#include <immintrin.h>\n" + MAIN + ARRAY + walk + END
    done = traces.record_program([compiled("vector", source)], tmp_path / "t.tst")
    _, accesses = dumped(done.trace)
    assert offsets_in_array(done, accesses) == [("load", 32 * i) for i in range(1000)]


def test_copying_by_string_instruction(compiled, dumped, tmp_path: Path):
    rep = '__asm__ volatile("rep movsq" : "+S"(s), "+D"(d), "+c"(c) :: "memory");'
    copy = roi("const volatile void* s = a; volatile void* d = a + 1000; uint64_t c = 100; " + rep)
    done = traces.record_program([compiled("string", MAIN + ARRAY + copy + END)], tmp_path / "t.tst")
    _, accesses = dumped(done.trace)
    found = offsets_in_array(done, accesses)
    base = json.loads(done.stdout.splitlines()[-1])["base"]
    for direction, begin in (("load", 0), ("store", 8000)):
        elements = [begin + 8 * i for i in range(100)]
        lines = [(base + offset) // 64 for offset in elements]
        entered = [offset for i, offset in enumerate(elements) if i == 0 or lines[i] != lines[i - 1]]
        assert [offset for name, offset in found if name == direction] == entered
    assert found[:2] == [("load", 0), ("store", 8000)]
    assert traces.trace_info(done.trace)["instructions"] < 20, "further lines are no instructions"


def test_nothing_outside_the_region_is_recorded(compiled, dumped, tmp_path: Path):
    empty = "  TESSERA_ROI_BEGIN();\n  TESSERA_ROI_END();\n  for (uint64_t i = 0; i < n; i++) a[i] = 0;\n"
    done = traces.record_program([compiled("empty", MAIN + ARRAY + empty + END)], tmp_path / "t.tst")
    assert traces.trace_info(done.trace)["accesses"] == 0


def test_several_regions_follow_one_another(compiled, dumped, tmp_path: Path):
    regions = "".join(roi(f"(void)a[{i}];") + f"  a[{i} + 1] = 1;\n" for i in (10, 20, 30))
    done = traces.record_program([compiled("regions", MAIN + ARRAY + regions + END)], tmp_path / "t.tst")
    _, accesses = dumped(done.trace)
    assert offsets_in_array(done, accesses) == [("load", 80), ("load", 160), ("load", 240)]


def test_pools_hold_the_array(compiled, dumped, tmp_path: Path):
    walk = roi("for (uint64_t i = 0; i < n; i += 512) (void)a[i];")
    done = traces.record_program(
        [compiled("pools", MAIN + ARRAY + walk + END)],
        tmp_path / "t.tst",
        heap_pool="64MB",
        anon_pool="128MB",
    )
    found = {pool["kind"]: pool for pool in traces.trace_info(done.trace)["pools"]}
    base = json.loads(done.stdout.splitlines()[-1])["base"]
    assert found["brk"]["size_bytes"] == 64 << 20
    assert found["mmap"]["size_bytes"] == 128 << 20
    assert found["mmap"]["base"] % (1 << 30) == 0
    assert found["mmap"]["base"] <= base < base + BYTES <= found["mmap"]["base"] + found["mmap"]["used_bytes"]
    # malloc's header puts the array 16 bytes into its mapping, so every 512th element is on another page.
    assert found["mmap"]["distinct_4kb_pages"] == BYTES // 4096


def chase_or_index(body: str) -> str:
    start = '  uint64_t x = 0;\n  __asm__ volatile("" : "+r"(x));\n  TESSERA_ROI_BEGIN();\n'
    return MAIN + ARRAY + start + body + "  TESSERA_ROI_END();\n  if (x == 77) return 1;\n" + END


def test_dependent_and_independent_loads_differ_in_their_registers(compiled, dumped, tmp_path: Path):
    """A pointer chase's load forms its address from the register that it writes; a scan's does not."""
    chase = '  for (int i = 0; i < 500; i++) { x = a[x]; __asm__ volatile("" : "+r"(x)); }\n'
    scan = '  for (int i = 0; i < 500; i++) { uint64_t y = a[i]; __asm__ volatile("" :: "r"(y)); }\n'
    depends = {}
    for name, body in (("chase", chase), ("scan", scan)):
        done = traces.record_program([compiled(name, chase_or_index(body))], tmp_path / f"{name}.tst")
        lines, _ = dumped(done.trace)
        loads = [line.split() for line in lines if line.startswith("  insn load ")]
        bits = [(int(words[5], 16), int(words[7], 16)) for words in loads]  # writes, address registers
        depends[name] = [bool(writes & address) for writes, address in bits if writes]
    assert depends["chase"] and all(depends["chase"])
    assert depends["scan"] and not any(depends["scan"])


def test_the_limit_stops_recording_but_not_the_program(compiled, dumped, tmp_path: Path):
    walk = roi("for (int r = 0; r < 20; r++) for (uint64_t i = 0; i < n; i++) (void)a[i];")
    done = traces.record_program(
        [compiled("limit", MAIN + ARRAY + walk + END)], tmp_path / "t.tst", max_accesses=1000
    )
    found = traces.trace_info(done.trace)
    assert found["accesses"] == 1000
    assert found["complete_roi"] is False
    assert '"verified":true' in done.stdout


def test_two_recordings_are_the_same(compiled, dumped, tmp_path: Path):
    walk = roi("for (uint64_t i = 0; i < n; i++) a[i] += 1;")
    program = compiled("same", MAIN + ARRAY + walk + END)
    first, second = (traces.record_program([program], tmp_path / f"{i}.tst").trace for i in range(2))
    assert traces.trace_info(first)["checksum"] == traces.trace_info(second)["checksum"]


def test_unmodified_program_without_markers(components, tmp_path: Path):
    done = traces.record_program(["/bin/echo", "hello"], tmp_path / "t.tst")
    found = traces.trace_info(done.trace)
    assert done.stdout == "hello\n"
    assert found["program"] == "/bin/echo hello"
    assert found["accesses"] > 100
    assert found["complete_roi"]
    assert traces.verify_trace(done.trace).endswith("intact\n")


def test_threads_are_refused_or_counted(compiled, dumped, tmp_path: Path):
    source = (
        "#include <thread>\n" + MAIN + ARRAY + "  TESSERA_ROI_BEGIN();\n"
        "  std::thread t([=] { for (int i = 0; i < 1000; i++) (void)a[i]; });\n  t.join();\n"
        "  for (int i = 2000; i < 2100; i++) (void)a[i];\n  TESSERA_ROI_END();\n" + END
    )
    program = compiled("threads", source, "-pthread")
    with pytest.raises(TesseraError, match="--threads"):
        traces.record_program([program], tmp_path / "t.tst")
    done = traces.record_program([program], tmp_path / "t.tst", threads=True)
    assert traces.trace_info(done.trace)["threads"] == 2
    _, accesses = dumped(done.trace)
    assert offsets_in_array(done, accesses) == [("load", 8 * i) for i in range(2000, 2100)]


@pytest.mark.parametrize(
    ("name", "body", "found"),
    [
        ("fails", "  TESSERA_ROI_BEGIN();\n  TESSERA_ROI_END();\n  return 3;\n", "status 3"),
        (
            "liar",
            '  TESSERA_ROI_BEGIN();\n  puts("{\\"verified\\": false}"); return 0;\n',
            '"verified": false',
        ),
        ("crash", "  TESSERA_ROI_BEGIN();\n  abort();\n", "SIGABRT"),
    ],
)
def test_a_failed_program_leaves_no_trace(compiled, tmp_path: Path, name: str, body: str, found: str):
    program = compiled(name, MAIN + ARRAY + body + END)
    out = tmp_path / "out"
    with pytest.raises(TesseraError, match=found):
        traces.record_program([program], out / "t.tst")
    assert list(out.iterdir()) == []


def test_a_region_that_never_begins_is_an_error(compiled, tmp_path: Path):
    program = compiled("never", MAIN + ARRAY + "  if (argc > 5) TESSERA_ROI_BEGIN();\n" + END)
    with pytest.raises(TesseraError, match="never began"):
        traces.record_program([program], tmp_path / "t.tst")


def test_a_full_pool_is_reported_with_its_use(compiled, tmp_path: Path):
    source = MAIN + ARRAY + '  if (!malloc(1u << 30)) { fputs("no memory\\n", stderr); return 1; }\n' + END
    with pytest.raises(TesseraError, match="anonymous pool: .* of 64MB used") as caught:
        traces.record_program([compiled("big", source)], tmp_path / "t.tst", roi="whole", anon_pool="64MB")
    assert "--anon-pool" in caught.value.remedy


def test_static_programs_are_refused(compiled, tmp_path: Path):
    program = compiled(
        "static", MAIN + ARRAY + "  TESSERA_ROI_BEGIN();\n  TESSERA_ROI_END();\n" + END, "-static"
    )
    with pytest.raises(TesseraError, match=str(program)) as caught:
        traces.record_program([program], tmp_path / "t.tst")
    assert "pool map" in caught.value.found or caught.value.code == "not-dynamic"
    assert not (tmp_path / "t.tst").exists()
