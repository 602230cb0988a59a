"""How the kernel is tested: selftests and stress in the guest, checked from inside and from outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tessera.kernel.guest import GuestProgram, GuestRun, Look, run_in_guest
from tessera.kernel.machine import Machine
from tessera.kernel.walker import differences, walk
from tessera.machine.container.toolchain import Toolchain
from tessera.results.schema.kernel import TEST
from tessera.results.write import frame_of, write

#: Of ``summary.csv``: what was tried, how often it went well and badly, seconds of the guest with its boot.

SELFTESTS = """replication-on || exit
selftest || exit
policies || exit
replication-report
"""

#: On machines where replicas make no sense, the tool must refuse and say why: (machine, arguments, message).
REFUSALS = (
    (Machine(nodes=1, cpus=1, memory_mb=512), "-r all", "one node with memory"),
    (Machine(nodes=3, cpus=3, memory_mb=768, memoryless=1), "-r 0-2", "no memory; nodes with memory are 0-1"),
)
REFUSAL = """echo 1 > /proc/sys/vm/pgtable_replication
pgtblrepl {arguments} true 2> /out/refused
[ $? = 2 ]
"""

#: The stress stands still while it is looked at, so that no entry is half way to its replicas.
STRESS = """replication-on || exit
echo 64 > /proc/sys/vm/pgtable_replica_cache
STRESS_NODES={nodes} pgtblrepl -r all stress {seconds} {seed} &
stress=$!
sleep 2
i=0
while [ $i -lt {walks} ] && stand-still $stress; do
    i=$((i + 1))
    host walk $i $(pagetable-roots $stress) || exit
    kill -CONT $stress
    sleep {pause}
done
wait $stress || exit
echo 0 > /proc/sys/vm/pgtable_replica_cache
replication-report
"""


class OutsideView:
    """Compares the trees of one process, and where their tables lie, whenever the guest asks."""

    def __init__(self) -> None:
        self.compared = 0
        self.leaves = 0
        self.found: list[str] = []

    def __call__(self, look: Look) -> bool:
        home = walk(look.memory, look.roots["home"])
        found: list[str] = []
        compared = leaves = 0
        for observer, root in look.roots.items():
            if observer == "home":
                continue
            tree = walk(look.memory, root)
            compared += 1
            leaves += int((tree.levels[1].entries != 0).sum())
            found += [f"walk {look.name}, node {observer}: {d}" for d in differences(home, tree)]
        # Reclaim and khugepaged don't stop with the process: what they are writing is right a moment later.
        if found and look.attempt < 2:
            return True
        self.compared += compared
        self.leaves += leaves
        self.found += found
        return False


def prove(
    tools: Toolchain,
    program: GuestProgram,
    out: Path,
    *,
    stress_seconds: int,
    seed: int,
    say: Callable[[str], None],
    machine: Machine | None = None,
) -> list[str]:
    """Run selftests and stress; writes ``summary.csv`` (:data:`TEST`) and returns the failures."""
    machine = machine or Machine()
    failures: list[str] = []
    rows: list[tuple] = []
    say("running the selftests in the guest")
    done = run_in_guest(tools, program, SELFTESTS, out / "selftests", machine=machine, timeout_seconds=600)
    failures += _judge("selftests", done)
    passed = sum(line.startswith("ok ") for line in done.text("stdout").splitlines())
    say(f"selftests: {passed} passed, {done.seconds:.0f} s including the boot")
    rows.append(("selftests", passed, len(failures), done.seconds, "measured"))

    for number, (refusing, arguments, message) in enumerate(REFUSALS):
        folder = out / f"refusal-{number}"
        done = run_in_guest(tools, program, REFUSAL.format(arguments=arguments), folder, machine=refusing)
        if done.status != 0 or message not in done.text("refused"):
            failures.append(f"pgtblrepl {arguments} on {refusing}: not refused with '{message}'")
        refused = done.status == 0 and message in done.text("refused")
        rows.append((f"refused: {message}", int(refused), int(not refused), done.seconds, "measured"))

    say(f"running the stress test for {stress_seconds} s")
    view = OutsideView()
    pause = 5
    script = STRESS.format(
        seconds=stress_seconds,
        seed=seed,
        nodes=hex((1 << machine.filled) - 1),
        pause=pause,
        walks=max(1, (stress_seconds - 4) // (pause + 2)),
    )
    done = run_in_guest(
        tools,
        program,
        script,
        out / "stress",
        machine=machine,
        on_walk=view,
        timeout_seconds=stress_seconds * 3 + 300,
    )
    found = _judge("stress", done) + view.found
    if not view.compared:
        found.append("the outside walker met no replica to compare: no processor ran the stress")
    say(f"stress: compared {view.compared} replicas with {view.leaves} leaf entries from outside the guest")
    rows.append((f"stress of {stress_seconds} s", int(not found), len(found), done.seconds, "measured"))
    differences = len(view.found)
    equal = view.compared - differences
    rows.append(("replicas compared from outside", equal, differences, done.seconds, "measured"))
    write(TEST, frame_of(TEST, rows), out / TEST.file)
    return failures + found


def _judge(name: str, done: GuestRun) -> list[str]:
    failures = [f"{name}: {line}" for line in done.text("stdout").splitlines() if line.startswith("not ok")]
    failures += [f"{name}: kernel: {line}" for line in done.warnings[:5]]
    if done.status != 0:
        failures.append(f"{name}: the script ended with status {done.status}: {done.text('stderr')[-300:]}")
    return failures
