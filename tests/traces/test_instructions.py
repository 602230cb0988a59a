"""The accesses of instructions that emulators forget, divide or misplace: directions, places and sizes."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field

import pytest

from tessera.record import traces
from tessera.record.traces.trace_tool import describe

pytestmark = pytest.mark.toolchain

TIMES = 3
STACK = None  #: a place on the stack


@dataclass(frozen=True)
class Case:
    """An instruction, and what one execution accesses: ``L`` or ``S``, offset in the data, bytes.

    r10 points to the data. ``before`` and ``after`` surround the instruction.
    """

    code: str
    expected: list[tuple[str, int | None, int]] = field(default_factory=list)
    before: str = ""
    after: str = ""


def both(offset: int, size: int) -> list[tuple[str, int, int]]:
    return [("L", offset, size), ("S", offset, size)]


def masked(lanes: str) -> str:
    """ymm1 as a mask: a digit for each of eight lanes."""
    words = "\n".join(f"movl ${-int(lane)}, {4 * i - 32}(%rsp)" for i, lane in enumerate(lanes))
    return f"{words}\nvmovdqu -32(%rsp), %ymm1"


ZERO_UPPER = "vzeroupper"
#: ymm2 has the indexes 0, 1024, ..., 7168: an element of each page.
FAR = "vmovdqu far(%rip), %ymm2"

CASES = {
    # atomic ones: a load, then a store
    "lock_xadd": Case("lock xadd %rax, (%r10)", both(0, 8)),
    "lock_add_byte": Case("lock addb $1, 7(%r10)", both(7, 1)),
    "lock_inc_word": Case("lock incw 2(%r10)", both(2, 2)),
    "lock_xor_at_the_end_of_a_page": Case("lock xorl %eax, 4092(%r10)", both(4092, 4)),
    "lock_add_across_pages": Case("lock addq %rax, 4092(%r10)", both(4092, 8)),
    "xchg": Case("xchg %rax, (%r10)", both(0, 8)),
    "xchg_byte": Case("xchg %al, 3(%r10)", both(3, 1)),
    "lock_cmpxchg_equal": Case("lock cmpxchg %rbx, (%r10)", both(0, 8), "mov (%r10), %rax"),
    "lock_cmpxchg_other": Case("lock cmpxchg %rbx, (%r10)", both(0, 8), "mov (%r10), %rax\nnot %rax"),
    "lock_cmpxchg8b": Case("lock cmpxchg8b (%r10)", both(0, 8)),
    "lock_cmpxchg16b": Case("lock cmpxchg16b 32(%r10)", both(32, 16)),
    "lock_btr_far": Case("lock btrq %rax, (%r10)", both(12288, 8), "mov $98307, %eax"),
    # the same without a prefix
    "cmpxchg": Case("cmpxchg %rbx, (%r10)", both(0, 8)),
    "bts_far": Case("btsq %rax, (%r10)", both(12288, 8), "mov $98307, %eax"),
    "bt_negative": Case("btq %rax, 4096(%r10)", [("L", 4088, 8)], "mov $-3, %rax"),
    "add_to_memory": Case("addl %eax, (%r10)", both(0, 4)),
    "not_memory": Case("notq (%r10)", both(0, 8)),
    # across a page
    "load_2": Case("movw 4095(%r10), %ax", [("L", 4095, 2)]),
    "load_4": Case("movl 4093(%r10), %eax", [("L", 4093, 4)]),
    "load_8": Case("movq 4089(%r10), %rax", [("L", 4089, 8)]),
    "load_10": Case("fldt 4090(%r10)", [("L", 4090, 10)], after="fstp %st(0)"),
    "load_16": Case("movdqu 4081(%r10), %xmm0", [("L", 4081, 16)]),
    "load_32": Case("vmovdqu 4088(%r10), %ymm0", [("L", 4088, 32)], after=ZERO_UPPER),
    "store_2": Case("movw %ax, 4095(%r10)", [("S", 4095, 2)]),
    "store_4": Case("movl %eax, 4094(%r10)", [("S", 4094, 4)]),
    "store_8": Case("movq %rax, 4095(%r10)", [("S", 4095, 8)]),
    "store_10": Case("fstpt 4095(%r10)", [("S", 4095, 10)], "fldz"),
    "store_16": Case("movups %xmm0, 4094(%r10)", [("S", 4094, 16)]),
    "store_32": Case("vmovups %ymm0, 4065(%r10)", [("S", 4065, 32)], after=ZERO_UPPER),
    "add_8": Case("addq %rax, 4090(%r10)", both(4090, 8)),
    "swap_bytes": Case("movbe 4090(%r10), %rax", [("L", 4090, 8)]),
    # inside a page
    "load_1": Case("movb (%r10), %al", [("L", 0, 1)]),
    "extend": Case("movzbl 5(%r10), %eax", [("L", 5, 1)]),
    "compare": Case("cmpl %eax, (%r10)", [("L", 0, 4)]),
    "set_byte": Case("setz (%r10)", [("S", 0, 1)]),
    "move_if_false": Case("cmovnz (%r10), %rax", [("L", 0, 8)], "xor %eax, %eax"),
    "stream": Case("movnti %rax, (%r10)", [("S", 0, 8)]),
    "stream_32": Case("vmovntdq %ymm0, (%r10)", [("S", 0, 32)], after=ZERO_UPPER),
    "broadcast": Case("vbroadcastsd 8(%r10), %ymm0", [("L", 8, 8)], after=ZERO_UPPER),
    "half_a_vector": Case("movhps 8(%r10), %xmm0", [("L", 8, 8)]),
    "convert": Case("cvtsi2sdl 4(%r10), %xmm0", [("L", 4, 4)]),
    "translate": Case("xlatb", [("L", 200, 1)], "mov %r10, %rbx\nmov $200, %eax"),
    # the stack
    "push": Case("push %rax", [("S", STACK, 8)], after="pop %rax"),
    "push_2": Case("pushw %ax", [("S", STACK, 2)], after="pop %ax"),
    "push_memory": Case("pushq (%r10)", [("L", 0, 8), ("S", STACK, 8)], after="pop %rax"),
    "pop_memory": Case("popq (%r10)", [("L", STACK, 8), ("S", 0, 8)], "push %rax"),
    "push_flags": Case("pushfq", [("S", STACK, 8)], after="pop %rax"),
    "enter": Case("enter $16, $0", [("S", STACK, 8)], "mov %rbp, %r8", "leave\nmov %r8, %rbp"),
    "call_memory": Case("call *pointer(%rip)", [("L", 65536, 8), ("S", STACK, 8)]),
    # strings; `rep movs` and `rep stos` make an access of an element for each line
    "lods": Case("lodsl", [("L", 0, 4)], "mov %r10, %rsi"),
    "scas": Case("scasb", [("L", 0, 1)], "mov %r10, %rdi"),
    "cmps": Case("cmpsw", [("L", 64, 2), ("L", 0, 2)], "mov %r10, %rsi\nlea 64(%r10), %rdi"),
    "movs": Case("movsq", [("L", 4092, 8), ("S", 0, 8)], "lea 4092(%r10), %rsi\nmov %r10, %rdi"),
    "rep_stos": Case("rep stosq", [("S", 4088, 8), ("S", 4096, 8)], "lea 4088(%r10), %rdi\nmov $2, %ecx"),
    "rep_movs": Case(
        "rep movsb",
        [("L", 32, 1), ("S", 4096, 1), ("L", 64, 1), ("S", 4160, 1), ("L", 128, 1)],
        "lea 32(%r10), %rsi\nlea 4096(%r10), %rdi\nmov $128, %ecx",
    ),
    "rep_movs_of_nothing": Case("rep movsb", [], "mov %r10, %rsi\nmov %r10, %rdi\nxor %ecx, %ecx"),
    # elements
    "gather": Case(
        "vpgatherdd %ymm1, (%r10,%ymm2,4), %ymm0",
        [("L", 4096 * lane, 4) for lane in range(8)],
        f"{masked('11111111')}\n{FAR}",
        ZERO_UPPER,
    ),
    "gather_three": Case(
        "vpgatherdd %ymm1, (%r10,%ymm2,4), %ymm0",
        [("L", 4096 * lane, 4) for lane in (0, 2, 6)],
        f"{masked('10100010')}\n{FAR}",
        ZERO_UPPER,
    ),
    "masked_load": Case("vpmaskmovd (%r10), %ymm1, %ymm0", [("L", 0, 32)], masked("11111111"), ZERO_UPPER),
    "masked_store": Case(
        "vpmaskmovd %ymm0, %ymm1, (%r10)", [("S", 0, 4), ("S", 28, 4)], masked("10000001"), ZERO_UPPER
    ),
    "masked_store_of_nothing": Case("vpmaskmovd %ymm0, %ymm1, (%r10)", [], masked("00000000"), ZERO_UPPER),
    "masked_bytes_of_none": Case("maskmovdqu %xmm1, %xmm0", [], "mov %r10, %rdi\npxor %xmm1, %xmm1"),
    # none
    "prefetch": Case("prefetcht0 (%r10)"),
    "flush": Case("clflush (%r10)"),
    "address_only": Case("lea (%r10), %rax"),
    "long_nop": Case("nopl (%r10)"),
    # Not as a processor does it, which loads once: capstone 4 does not decode it, so QEMU's parts stay apart.
    "broadcast_16": Case("vbroadcasti128 (%r10), %ymm0", [("L", 0, 8), ("L", 8, 8)], after=ZERO_UPPER),
    # Not as a processor does it, which accesses nothing: QEMU 7.2 loads before it looks at the mask.
    "masked_load_of_nothing": Case(
        "vpmaskmovd (%r10), %ymm1, %ymm0", [("L", 0, 32)], masked("00000000"), ZERO_UPPER
    ),
}

CLOBBERED = '"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "cc", "memory", "xmm0", "xmm1", "xmm2"'


def source() -> str:
    """A program that runs each instruction :data:`TIMES` times and prints where it and the data are."""

    def text(lines: str) -> str:
        return "".join(f'"{line}\\n"' for line in lines.replace("%", "%%").splitlines())

    parts = [
        "struct { char bytes[65536]; void (*pointer)(void); } data __attribute__((aligned(65536)));",
        "uint32_t far_indexes[8];",
        "static void nothing(void) {}",
        'asm(".set pointer, data + 65536\\n.set far, far_indexes\\n");',
    ]
    for name, case in CASES.items():
        code = text(case.before) + f'".globl I_{name}\\nI_{name}: "' + text(case.code) + text(case.after)
        parts.append(
            f"extern char I_{name}[];\n__attribute__((noinline, noclone)) static void run_{name}() {{\n"
            f'  register void* at asm("r10") = &data;\n'
            f'  asm volatile("sub $512, %%rsp\\n" {code} "add $512, %%rsp" : : "r"(at) : {CLOBBERED});\n}}'
        )
    runs = " ".join(f"run_{name}();" for name in CASES)
    prints = " ".join(f'printf("\\"{name}\\":%lu,", (unsigned long)I_{name});' for name in CASES)
    return "\n".join(parts) + (
        "\nint main(int, char**) {\n  data.pointer = nothing;\n"
        "  for (int i = 0; i < 8; i++) far_indexes[i] = 1024 * i;\n  TESSERA_ROI_BEGIN();\n"
        f"  for (int i = 0; i < {TIMES}; i++) {{ {runs} }}\n  TESSERA_ROI_END();\n"
        f'  printf("{{"); {prints}\n'
        '  printf("\\"data\\":%lu,\\"verified\\":true}\\n", (unsigned long)&data);\n  return 0;\n}\n'
    )


def accesses_by_pc(lines: list[str]) -> dict[int, list[tuple[str, int, int]]]:
    """``L`` or ``S``, address and bytes of each access of a dumped trace, by its instruction."""
    blocks: list[dict] = []
    found = defaultdict(list)
    run, number = {}, 0
    for line in lines:
        words = line.split()
        if words[0] == "block":
            blocks.append({"next": int(words[3], 16), "pcs": [], "slots": []})
        elif words[0] == "insn":
            blocks[-1]["pcs"].append(blocks[-1]["next"])
            blocks[-1]["next"] += int(words[words.index("length") + 1])
        elif words[0] == "slot":
            blocks[-1]["slots"].append((int(words[2]), int(words[4])))
        elif words[0] == "run":
            run, number = blocks[int(words[1])], 0
        else:
            insn, size = run["slots"][number]
            found[run["pcs"][insn]].append((words[0][0].upper(), int(words[1], 16), size))
            number += 1
    return found


@pytest.fixture(scope="session")
def recorded_cases() -> dict:
    return {}


def crosses_page(address: int, size: int) -> bool:
    return address // 4096 != (address + size - 1) // 4096


@pytest.fixture
def accesses(compiled, dumped, tmp_path, recorded_cases):
    """Of each case: what it accessed, with offsets in the data; recorded once."""
    if not recorded_cases:
        done = traces.record_program([compiled("instructions", source(), "-mavx2")], tmp_path / "t.tst")
        places = json.loads(done.stdout.splitlines()[-1])
        by_pc = accesses_by_pc(dumped(done.trace)[0])
        across = sum(crosses_page(address, size) for all_of in by_pc.values() for _, address, size in all_of)
        recorded_cases["described"] = (describe(done.trace), across)
        for name in CASES:
            recorded_cases[name] = [
                (kind, offset if 0 <= (offset := address - places["data"]) <= 65536 else STACK, size)
                for kind, address, size in by_pc[places[name]]
            ]
    return recorded_cases


def test_crossed_pages_and_masked_loads_are_counted(accesses):
    said, across = accesses["described"]
    assert across >= 18 * TIMES  # at least the cases with 4096 inside
    assert f"\nacross pages        {across} accesses to two 4KB pages" in said
    masked = sum(name.startswith("masked_load") for name in CASES)
    assert f"\nmasked loads        {masked * TIMES} of {masked} instructions" in said


@pytest.mark.parametrize("name", CASES)
def test_an_instruction_makes_its_accesses(accesses, name: str):
    assert accesses[name] == CASES[name].expected * TIMES
