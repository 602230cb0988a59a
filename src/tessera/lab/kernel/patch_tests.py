"""How the series of patches is tested in the guest: whole, and after each patch."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from tessera.core.errors import TesseraError
from tessera.core.results.kernel_tables import BISECT, TEST
from tessera.core.results.table_io import frame_of
from tessera.lab.kernel import build_tools, image
from tessera.lab.kernel.build_tools import checkout_names, run_build_script
from tessera.lab.kernel.guest import GuestProgram, GuestRun, Look, run_in_guest
from tessera.lab.kernel.page_tables import HOME, tree_differences, walk
from tessera.lab.kernel.qemu import EmulatedMachine
from tessera.lab.kernel.source import component_script, find_source, fragment_files, patches
from tessera.lab.study import Count, Run, Seed, printed, study

# The whole series: selftests and stress in the guest, checked from inside and from outside.

SELFTESTS = """replication-on || exit
selftest; failed=$?
policies || failed=1
timeout 300 /kselftest > /out/kselftest 2>&1
echo $? > /out/kselftest-status
replication-report || failed=1
exit $failed
"""
#: The series' own kselftest, in the folder of its kernel.
KSELFTEST = "pgtable_replication"

#: A selftest that other machines skip.
UNFIT_NODE = "selftest 'node without memory or processors' && ! grep -q SKIP /out/stdout"
#: On machines where replicas make no sense, the tool must refuse and say why: (machine, arguments, message,
#: another command that must succeed there).
REFUSALS = (
    (EmulatedMachine(nodes=1, cpus=1, memory_mb=512), "-r all", "one node with memory", "true"),
    (
        EmulatedMachine(nodes=3, cpus=3, memory_mb=768, memoryless=1),
        "-r 0-2",
        "nodes with memory and processors are 0-1",
        UNFIT_NODE,
    ),
    (
        EmulatedMachine(nodes=3, cpus=1, memory_mb=768),
        "-r all",
        "one node with memory and processors",
        UNFIT_NODE,
    ),
)
REFUSAL = """echo 1 > /proc/sys/vm/pgtable_replication
pgtblrepl {arguments} true 2> /out/refused
[ $? = 2 ] && {more}
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
        home = walk(look.memory, look.roots[HOME])
        found: list[str] = []
        compared = leaves = 0
        for observer, root in look.roots.items():
            if observer == HOME:
                continue
            tree = walk(look.memory, root)
            compared += 1
            leaves += int((tree.levels[1].entries != 0).sum())
            found += [f"walk {look.name}, node {observer}: {d}" for d in tree_differences(home, tree)]
        # Reclaim and khugepaged don't stop with the process: what they are writing is right a moment later.
        if found and look.attempt < 2:
            return True
        self.compared += compared
        self.leaves += leaves
        self.found += found
        return False


@study(TEST)
def selftests_and_stress(
    run: Run, stress_seconds: Count = 120, seed: Seed = 1, accept_series: bool = False
) -> pd.DataFrame:
    """Run selftests and stress tests in the guest; check page tables inside (checker) and outside (walker).

    The exit status is 1 if a test failed.

    Example: ./run tessera lab run kernel-test stress_seconds=120 --out build/kernel/test

    Args:
        stress_seconds: duration of the random operations, seconds.
        seed: of the random operations.
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: the kernel cannot be built, or QEMU failed.
    """
    program, tools = (
        image.guest_program("checked", run.say, accept_series=accept_series),
        image.kernel_tools(run.say),
    )
    say, out, machine = run.say, run.folder, EmulatedMachine()
    failures: list[str] = []
    rows: list[tuple] = []
    say("running the selftests in the guest")
    files = kselftest_of(program)
    done = run_in_guest(
        tools, program, SELFTESTS, out / "selftests", machine=machine, timeout_seconds=900, files=files
    )
    failures += _failures_of("selftests", done)
    passed = sum(line.startswith("ok ") for line in done.text("stdout").splitlines())
    say(f"selftests: {passed} passed, {done.seconds:.0f} s including the boot")
    rows.append(("selftests", passed, len(failures), done.seconds, "measured"))
    own_passed, own_failures = judge_kselftest(done)
    failures += own_failures
    rows.append(("kselftest", own_passed, len(own_failures), done.seconds, "measured"))

    for number, (refusing, arguments, message, more) in enumerate(REFUSALS):
        folder = out / f"refusal-{number}"
        script = REFUSAL.format(arguments=arguments, more=more)
        done = run_in_guest(tools, program, script, folder, machine=refusing)
        if done.status != 0 or message not in done.text("refused"):
            found = "; ".join(line for line in done.text("stdout").splitlines() if line.startswith("#"))
            failures.append(
                f"pgtblrepl {arguments} on {refusing}: not refused with '{message}' {found}".strip()
            )
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
    found = _failures_of("stress", done) + view.found
    if not view.compared:
        found.append("the outside walker met no replica to compare: no processor ran the stress")
    say(f"stress: compared {view.compared} replicas with {view.leaves} leaf entries from outside the guest")
    rows.append((f"stress of {stress_seconds} s", int(not found), len(found), done.seconds, "measured"))
    differences = len(view.found)
    equal = view.compared - differences
    rows.append(("replicas compared from outside", equal, differences, done.seconds, "measured"))
    run.wrong.extend(failures + found)
    return frame_of(TEST, rows)


def kselftest_of(program: GuestProgram) -> dict[str, bytes]:
    """The series' own kselftest where :data:`SELFTESTS` looks for it, for the files of the guest."""
    return {"/kselftest": (program.kernel.parent / KSELFTEST).read_bytes()}


def judge_kselftest(done: GuestRun) -> tuple[int, list[str]]:
    """How many tests of the series' own kselftest passed, and what went wrong.

    A skipped test does not count; if all were skipped, or the program never ran, that is a failure.
    """
    lines = done.text("kselftest").splitlines()
    passed = sum(line.startswith("ok ") and "# SKIP" not in line for line in lines)
    failures = [f"kselftest: {line}" for line in lines if line.startswith("not ok")]
    status = done.text("kselftest-status").strip() or "none: it never ran"
    if not failures and status != "0":
        failures.append(f"kselftest: status {status}: {' '.join(lines[-3:])}")
    if not failures and not passed:
        failures.append("kselftest: no test passed, so all were skipped")
    return passed, failures


def _failures_of(name: str, done: GuestRun) -> list[str]:
    failures = [f"{name}: {line}" for line in done.text("stdout").splitlines() if line.startswith("not ok")]
    failures += [f"{name}: kernel: {line}" for line in done.warnings[:5]]
    if done.status != 0:
        failures.append(f"{name}: the script ended with status {done.status}: {done.text('stderr')[-300:]}")
    return failures


# The kernel after every patch of the series, built and booted: each patch can be bad on its own.

#: Of the configuration: the smallest that boots and has what the patches change.
BISECT_FRAGMENTS = ("base", "bisect", "replication")
#: Enough to see that processes run, fork and map memory on all processors.
BOOT_SCRIPT = """[ $(nproc) = 4 ] || exit 1
i=0
while [ $i -lt 20 ]; do i=$((i + 1)); sh -c 'true | cat' & done
wait
dd if=/dev/zero of=/tmp/file bs=1M count=32 2> /dev/null && [ $(wc -c < /tmp/file) = 33554432 ]
"""


def build_series(say: Callable[[str], None], *, accept_series: bool = False) -> dict[Path, Path]:
    """Patch -> folder with ``bzImage`` of the kernel with the patches up to it, or with ``errors``.

    A folder is named by the hash of these patches: a changed one builds the kernels from itself on.
    """
    tools, series, fragments = image.kernel_tools(say), patches(), fragment_files(BISECT_FRAGMENTS)
    found, recipe = find_source(tools, accept_series, say), component_script("build-series.sh")
    folders = {
        patch: build_tools.build_folder()
        / f"after-{build_tools.build_key(tools, [*recipe, *fragments, *series[: n + 1]], found.version)}"
        for n, patch in enumerate(series)
    }
    with build_tools.locked_build("series-tree"):
        missing = sum(not (folder / "bzImage").exists() for folder in folders.values())
        if missing:
            say(f"building kernel {found.version} after {missing} of {len(series)} patches (1 to 8 min each)")
            listing = build_tools.build_folder() / "series"
            lines = "".join(f"{patch} {folder}\n" for patch, folder in folders.items())
            listing.write_text(checkout_names().text(lines))
            argv = [recipe[0], build_tools.build_folder() / "series-tree", listing, *fragments]
            run_build_script(tools, argv, image.compiler_cache() | found.environment())
    return folders


@study(BISECT, show=printed(1))
def bisect(run: Run, accept_series: bool = False) -> pd.DataFrame:
    """Build and boot the kernel after every patch of the series: about 1 hour on one core the first time.

    Outcomes are: passed, not built, failed in the guest. The exit status is 1 if one did not pass.

    Example: ./run tessera lab run kernel-bisect --out build/kernel/bisect

    Args:
        accept_series: take another version of the kernel source's series if all patches apply.

    Raises:
        TesseraError: the source is not here, or the guest's programs cannot be built.
    """
    guest = image.build_guest(run.say)
    rows = []
    for patch, kernel in build_series(run.say, accept_series=accept_series).items():
        outcome, *found = _try_kernel(kernel, guest / "common.cpio", run.folder / patch.stem, run.say)
        rows.append((patch.name, outcome, *found, "measured"))
        run.say(f"{patch.name}: {outcome}")
        if outcome != "passed":
            run.wrong.append(f"{patch.name}: {outcome}")
    return frame_of(BISECT, rows)


def _try_kernel(kernel: Path, archive: Path, out: Path, say: Callable[[str], None]) -> tuple[str, float, str]:
    """Outcome, seconds in the guest and findings of one kernel."""
    if not (kernel / "bzImage").exists():
        return "not built", 0.0, (kernel / "errors").read_text()[:300]
    try:
        done = run_in_guest(
            image.kernel_tools(say),
            GuestProgram(kernel / "bzImage", (archive,)),
            BOOT_SCRIPT,
            out,
            timeout_seconds=180,
        )
    except TesseraError as error:
        return "failed in the guest", 0.0, str(error)
    if done.status != 0 or done.warnings:
        return "failed in the guest", done.seconds, f"status {done.status}, {done.warnings[:3]}"
    return "passed", done.seconds, ""
