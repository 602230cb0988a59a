"""Do the checks notice a missing hook? Each hook of the series is left out once, and all of them work once.

One kernel has all of the series and a file that names the hooks to leave out
(``artifacts/kernel/broken/hooks-can-be-skipped.patch``). The program ``witness`` runs operations that need a
hook, from before it is left out to the end of the process. Five observers may notice: the checker in the
kernel, the walk of the tables from outside, the program itself (contents, accessed and dirty bits, counters),
what is left after its end (pages of replicas, address spaces), and the kernel's log.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError, unknown_name
from tessera.core.results.kernel_tables import PROVE
from tessera.core.results.table_io import frame_of
from tessera.lab.kernel import image
from tessera.lab.kernel.guest import GuestProgram, GuestRun, Look, run_in_guest, script_failed
from tessera.lab.kernel.patch_tests import OutsideView
from tessera.lab.study import Names, Run, printed, study
from tessera.machine.container.toolchain import Toolchain


@dataclass(frozen=True)
class Mutant:
    """A hook that is left out, or does half of its work.

    Attributes:
        name: of the hook in the patch.
        case: of ``witness``, which needs it.
        missing: what the kernel does not do without it.
        alone: in a guest of its own, because it may stop the kernel.
    """

    name: str
    case: str
    missing: str
    alone: bool = False


MUTANTS = (
    Mutant("set_ptes", "tables", "copy new leaves"),
    Mutant("set_pte", "reuse", "copy a leaf that a write fault makes writable"),
    Mutant("set_pmd", "tables", "copy a pointer to a table of leaves"),
    Mutant("set_pud", "tables", "copy a pointer to a table of level 2"),
    Mutant("set_p4d", "tables", "copy an entry of the root"),
    Mutant("local_child", "tables", "let a copy point to the tables of its own node"),
    Mutant("pmd_clear", "tables-below", "clear a pointer to a table of leaves"),
    Mutant("pud_clear", "tables-below", "clear a pointer to a table of level 2"),
    Mutant("p4d_clear", "tables", "clear an entry of the root"),
    Mutant("pte_clear", "slots", "clear the swap entry of a leaf"),
    Mutant("arch_leave_lazy_mmu_mode", "forked", "copy what waited in lazy MMU mode", alone=True),
    Mutant("change_prot_end", "protect", "copy what mprotect changed"),
    Mutant("settle_bits", "dirty-protected", "keep bits that hardware set while mprotect ran"),
    Mutant("ptep_get_and_clear", "move", "clear a leaf"),
    Mutant("clear_bits", "dirty-unmapped", "collect the bits of a leaf that is cleared"),
    Mutant("ptep_get_and_clear_full", "dirty-at-exit", "collect the bits of a leaf when a process ends"),
    Mutant("ptep_set_wrprotect", "forked", "write-protect a leaf at a fork"),
    Mutant("pmdp_set_wrprotect", "huge-forked", "write-protect a huge leaf at a fork"),
    Mutant("copy_huge_pmd", "huge-inherited", "read the bits of all copies at a fork"),
    Mutant("madvise_free_huge_pmd", "huge-freed", "clear the bits of all copies at MADV_FREE"),
    Mutant("pmdp_huge_get_and_clear", "huge-dropped", "clear a huge leaf"),
    Mutant("pmdp_establish", "huge-split", "exchange a huge leaf that is split"),
    Mutant("xchg_bits", "huge-split", "collect the bits of a huge leaf that is exchanged"),
    Mutant("ptep_get", "accessed", "read the bits of all copies of a leaf"),
    Mutant("pmdp_get", "huge-accessed", "read the bits of all copies of a huge leaf"),
    Mutant("ptep_test_and_clear_young", "accessed-cleared", "clear the accessed bit of all copies"),
    Mutant("pmdp_test_and_clear_young", "huge-accessed-cleared", "clear that of all copies of a huge leaf"),
    Mutant("pte_alloc_one", "tables", "give copies to a new table of leaves"),
    Mutant("pmd_alloc_one", "tables", "give copies to a new table of level 2"),
    Mutant("pud_alloc_one", "tables", "give copies to a new table of level 3"),
    Mutant("pgd_alloc", "child-is-born", "give copies to a new root"),
    Mutant("kernel_half", "child-ends", "copy the kernel's half of a new root"),
    Mutant("set_roots", "child-is-born", "let the processors of a node walk its copy of the root"),
    Mutant("home_page", "homes", "keep home tables on one node"),
    Mutant("pte_free_tlb", "tables", "free the copies of a table of leaves"),
    Mutant("pmd_free_tlb", "tables", "free the copies of a table of level 2"),
    Mutant("pud_free_tlb", "tables", "free the copies of a table of level 3"),
    Mutant("pgd_free", "child-ends", "free the copies of a root"),
    Mutant("pte_free", "huge-dropped", "free the copies of a deposited table"),
    Mutant("pmd_free", "races", "free the copies of a table of level 2 that lost a race"),
    Mutant("pud_free", "races", "free the copies of a table of level 3 that lost a race"),
    Mutant("pte_free_defer", "collapse", "account a table that RCU frees"),
    Mutant("replicas_init", "child-is-born", "let a child inherit the nodes"),
    Mutant("local_root", "own-tables-walked", "load the root of the processor's own node"),
    Mutant("reload_cr3", "late", "make running threads load a new root"),
    Mutant("switching", "switches", "announce that processors are still to load new roots"),
    Mutant("grace_period", "lockless", "free copies only when nobody without a lock stands in a ring"),
    Mutant("replica_fill", "late", "copy the first leaf of a table into new copies"),
    Mutant("fold", "dirty-retired", "keep the bits of copies that go"),
    Mutant("deposits", "deposits", "free the copies of deposited tables when nodes go"),
    Mutant("free_after_off", "switched-off", "free the copies of tables that RCU has at the switch-off"),
    # From here on the policy cannot change in this guest.
    Mutant("replicas_exit", "child-ends", "account the end of an address space"),
)  # fmt: skip
#: Hooks of 1 GB pages, which only DAX devices map this way: a guest has none.
UNREACHED = (
    "pudp_get",
    "pudp_set_wrprotect",
    "pudp_huge_get_and_clear",
    "pudp_establish",
    "pudp_test_and_clear_young",
)
#: In the patch, but no hook: readers without locks take their time in a ring, RCU frees tables late, and a
#: change of roots waits before it interrupts processors. The cases of ``grace_period``, ``free_after_off``
#: and ``switching`` ask for it, with the hook, too: what would be a race has one end.
SLOW_READERS = "linger"
# Two parts that no guest can show are not in the patch. The flush at the end of a change of roots reaches
# translations that a processor keeps under the number of another address space: QEMU's emulation has no such
# numbers (PCID), and forgets all translations whenever CR3 is written. The barriers around the announcement
# order stores, which x86 never reorders (smp_wmb), or a store and a load nanoseconds apart (smp_mb).
#: Some of each kind: a pointer, leaves, bits, the end of a table.
FEW = ("set_pmd", "change_prot_end", "pmdp_get", "pte_free_tlb")
ALL = "all"
#: In the column of mutants: no hook is left out.
WHOLE = "none"

#: khugepaged keeps an ended address space until it scans it, idle processors keep the last one that they ran,
#: and RCU delays the freeing of tables: what is left counts when it does not go away.
SCRIPT = """replication-on || exit
debug=/sys/kernel/debug/pgtable_replication
[ -e $debug/skip ] || { echo "this kernel leaves out no hooks" >&2; exit 2; }
echo 50 > /sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs
count() { awk -v key="$1" '$1 ~ key { sum += $2 } END { print sum + 0 }' $debug/stats; }
left() { echo 1 > /proc/sys/vm/stat_refresh; count '^(address_spaces|node[0-9]+_replica_pages)$'; }
observe() { # name, case, hook or nothing
    dmesg -c > /dev/null
    echo "witness of $1" > /dev/kmsg
    echo 1 > /sys/kernel/debug/clear_warn_once
    differences=$(count '^differences$') before=$(left)
    WITNESS_STOPS=1 taskset -c 0 pgtblrepl -r all witness $2 $3 2> /out/$1.said &
    program=$!
    while wait-stopped $program 30 2> /dev/null; do
        host walk $1 $(pagetable-roots $program)
        kill -CONT $program
    done
    wait $program; status=$?
    echo > $debug/skip
    tries=0
    while [ $(left) -gt $before ] && [ $tries -lt 15 ]; do
        tries=$((tries + 1))
        for cpu in $(seq 0 $(($(nproc) - 1))); do taskset -c $cpu true; done
        sleep 0.2
    done
    dmesg -c > /out/$1.log
    echo "observed $1 $status $(($(count '^differences$') - differences)) $(($(left) - before))"
}
"""
#: What the observers saw, a line for each name.
_OBSERVED = re.compile(r"^observed (\S+) (\d+) (-?\d+) (-?\d+)$", re.MULTILINE)
#: Marks of the kernel's log; the checker's own lines are counted as differences.
_MARKS = re.compile(r"WARNING:|BUG:|BUG |Bad page|Oops|stall|soft lockup")
_CHECKER = re.compile(r"pgtable_replica/check\.c|pgtable_replica: difference")
STOPPED = "guest stopped"


@dataclass(frozen=True)
class Observed:
    """What the observers saw of one run of ``witness``.

    Attributes:
        checker: differences that the checker counted.
        walker: those of the walk from outside.
        program: empty if it passed; else its exit status, or that the guest stopped.
        left: pages of replicas and address spaces that stayed.
        log: lines of the kernel's log that are not the checker's.
    """

    checker: int = 0
    walker: int = 0
    program: str = ""
    left: int = 0
    log: int = 0

    @property
    def observers(self) -> list[str]:
        """Those who noticed something."""
        return [name for name in ("checker", "walker", "program", "left", "log") if getattr(self, name)]


class Walker(OutsideView):
    """The view from outside; a copy that leads out of the guest's memory is a difference, too."""

    def __call__(self, look: Look) -> bool:
        try:
            return super().__call__(look)
        except (IndexError, ValueError, MemoryError) as error:
            self.found.append(f"walk {look.name}, unreadable: {error}")
            return False

    def differences(self, name: str) -> int:
        """Of the looks with this name."""
        return sum(line.startswith(f"walk {name}, ") for line in self.found)


Observe = Callable[[Sequence[tuple[str, str, str]], Path], dict[str, Observed]]


def observe(
    tools: Toolchain, program: GuestProgram, runs: Sequence[tuple[str, str, str]], out: Path
) -> dict[str, Observed]:
    """Run ``witness`` in one guest: (name, case, hook to leave out, or nothing) -> what was seen, by name.

    Raises:
        TesseraError: the guest stopped, or a case lacks something in this guest.
    """
    walker = Walker()
    script = SCRIPT + "".join(f"observe {name} {case} {hook}\n" for name, case, hook in runs)
    done = run_in_guest(tools, program, script, out, on_walk=walker, timeout_seconds=60 + 15 * len(runs))
    seen = read_observed(done, walker)
    unseen = [name for name, _, _ in runs if name not in seen]
    if done.status != 0 or unseen:
        raise script_failed(f"a look at {', '.join(unseen) or 'missing hooks'}", done)
    return seen


def read_observed(done: GuestRun, walker: Walker) -> dict[str, Observed]:
    """What the script printed and left, by name."""
    seen = {}
    for name, status, differences, left in _OBSERVED.findall(done.text("stdout")):
        log = [line for line in done.text(f"{name}.log").splitlines() if _MARKS.search(line)]
        if status == "4":
            raise TesseraError(
                f"the witness of {name}", done.text(f"{name}.said").strip(), "give the guest more memory"
            )
        seen[name] = Observed(
            checker=int(differences),
            walker=walker.differences(name),
            program="" if status == "0" else f"status {status}",
            left=max(0, int(left)),
            log=sum(not _CHECKER.search(line) for line in log),
        )
    return seen


def chosen(names: Sequence[str]) -> list[Mutant]:
    """The mutants with these names; ``all``: all.

    Raises:
        TesseraError: there is no such mutant.
    """
    known = {mutant.name: mutant for mutant in MUTANTS}
    for name in names:
        if name != ALL and name not in known:
            raise unknown_name("mutant", name, (ALL, *known))
    return [mutant for mutant in MUTANTS if ALL in names or mutant.name in names]


@study(PROVE, show=printed())
def prove(run: Run, mutants: Names = FEW, accept_series: bool = False) -> pd.DataFrame:
    """Leave out hooks, one at a time; test that the checks notice each, and nothing of the whole kernel.

    The exit status is 1 if they do not, or notice something of the whole kernel. ``mutants=all`` leaves
    out every hook that a guest can reach, in about 2 minutes.

    Example: ./run tessera lab run kernel-prove mutants=set_pmd,fold --out build/kernel/prove

    Args:
        mutants: names of hooks; all: every one.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: no such hook, the kernel cannot be built, or the script in the guest failed.
    """
    wanted = chosen(mutants)
    program = image.guest_program("broken", run.say, accept_series=accept_series)
    tools = image.kernel_tools(run.say)
    table = judge(wanted, lambda runs, out: observe(tools, program, runs, run.folder / out))
    run.say(f"{len(wanted)} hooks left out; {', '.join(UNREACHED)} are only for DAX")
    for row in table[table.status.isin(("missed", "noticed"))].itertuples():
        run.wrong.append(
            f"{row.case} without {row.mutant}: nobody noticed"
            if row.status == "missed"
            else f"{row.case} on the whole kernel: noticed by {row.noticed_by}"
        )
    return table


def judge(wanted: Sequence[Mutant], look: Observe) -> pd.DataFrame:
    """The cases on the whole kernel first, then each mutant, as a table."""
    cases = list(dict.fromkeys(mutant.case for mutant in wanted))
    runs = [(f"whole-{case}", case, "") for case in cases]
    runs += [(mutant.name, mutant.case, mutant.name) for mutant in wanted if not mutant.alone]
    seen = look(runs, Path("together"))
    for mutant in wanted:
        if mutant.alone:
            seen |= _observe_alone(mutant, look)
    rows = [_row(WHOLE, case, "", seen[f"whole-{case}"], "clean", "noticed") for case in cases]
    rows += [_row(m.name, m.case, m.missing, seen[m.name], "missed", "found") for m in wanted]
    return frame_of(PROVE, rows)


def _observe_alone(mutant: Mutant, look: Observe) -> dict[str, Observed]:
    try:
        return look([(mutant.name, mutant.case, mutant.name)], Path(mutant.name))
    except TesseraError as error:
        if error.code not in ("guest-stopped", "guest-timeout"):
            raise
        return {mutant.name: Observed(program=STOPPED)}


def _row(mutant: str, case: str, missing: str, seen: Observed, silent: str, heard: str) -> tuple:
    numbers = (seen.checker, seen.walker, seen.program or "passed", seen.left, seen.log)
    status = heard if seen.observers else silent
    return (mutant, case, missing, *numbers, ", ".join(seen.observers), status, "measured")
