"""Rounds of start, ``kill -9`` at random times, and restart in two checkouts of one machine.

In each round a process of each checkout reserves huge pages, changes settings, or both, and is killed at some
time. Then both checkouts are started again, and may be killed once more while they restore. At the end of the
round, pool, settings and records must be as before. Settings are files of a temporary folder. So is the pool,
unless ``--real`` takes 2MB pages of this machine (root).

    python -P tests/machine/kill_rounds.py --rounds 200 --real --checkouts A B

It prints what the kills left, and each round that ended wrong; exit status 1 if one did.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REAL = Path("/sys/kernel/mm/hugepages")
SECONDS = 60  #: in which a process must have ended that was killed, or that has nothing more to do
MOST_PAGES = 8
WORK = ("pages", "settings", "both", "fix")
#: A file of the kernel is never empty, as others are between two calls of ``Path.write_text``.
AT_ONCE = """
import os, pathlib
real = pathlib.Path.write_text
def write_text(path, text, **options):
    if not str(path).startswith({folder!r}) or not path.exists():
        return real(path, text, **options)
    descriptor = os.open(path, os.O_WRONLY)
    os.pwrite(descriptor, text.strip().ljust(15).encode() + b"\\n", 0)
    os.close(descriptor)
pathlib.Path.write_text = write_text
"""


# One process of a checkout: a server that imports Tessera once, and forks for each piece of work.


def serve() -> None:
    """Read a line of JSON for each child to start; answer with its number."""
    import tessera.machine.environment.preparation
    import tessera.machine.reserve.settings  # noqa: F401

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel reaps
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _work(asked)
        print(child, flush=True)


def _work(asked: dict) -> None:
    """The child: do what was asked, and write its end into a file; a killed one writes nothing."""
    from tessera.core.errors import TesseraError
    from tessera.machine.environment.condition import KernelSetting
    from tessera.machine.environment.preparation import MachineChanges, fixed
    from tessera.machine.reserve import reserve_huge_pages, restore_leftovers
    from tessera.machine.reserve.settings import changed_settings, restore_settings

    began, said = time.monotonic(), "done"
    wanted = {Path(path): asked["value"] for path in asked["settings"]}
    try:
        with contextlib.ExitStack() as stack:
            if asked["work"] == "restart":
                restore_leftovers()
                restore_settings()
            if asked["work"] == "fix":
                changes = tuple(KernelSetting(path, value) for path, value in wanted.items())
                stack.enter_context(fixed(MachineChanges(changes, ()))).check()
            if asked["work"] in ("pages", "both"):
                stack.enter_context(reserve_huge_pages(asked["pages"], allowed=True))
            if asked["work"] in ("settings", "both"):
                stack.enter_context(changed_settings(wanted, allowed=True))
            time.sleep(asked["hold"])
    except TesseraError as error:
        said = error.code or str(error)
    except BaseException as error:
        said = repr(error)
    Path(asked["end"]).write_text(json.dumps({"said": said, "seconds": time.monotonic() - began}))
    os._exit(0)


class Checkout:
    """A checkout with its server; ``source`` has the folder ``src``, ``root`` is the checkout's name."""

    def __init__(self, source: Path, root: Path, environment: dict[str, str], log):
        path = f"{environment['PYTHONPATH']}:{source / 'src'}"
        env = os.environ | environment | {"PYTHONPATH": path, "TESSERA_ROOT": str(root)}
        argv = [sys.executable, "-P", __file__, "--serve"]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": log}
        self.server = subprocess.Popen(argv, env=env, text=True, **pipes)

    def start(self, **asked) -> int:
        """The number of a child that does what is asked."""
        self.server.stdin.write(json.dumps(asked) + "\n")
        self.server.stdin.flush()
        return int(self.server.stdout.readline())

    def close(self) -> None:
        self.server.stdin.close()
        self.server.wait()


# The rounds.


class Rounds:
    """A machine of files, or with its real 2MB pages, and two checkouts."""

    def __init__(
        self, folder: Path, sources: Sequence[Path], seed: int, *, real: bool = False, fix: float = 0.1
    ):
        self.folder, self.state, self.random, self.fix = folder, folder / "state", random.Random(seed), fix
        self.settings = [folder / name for name in ("enabled", "numa_balancing", "nmi_watchdog")]
        for path in self.settings:
            path.write_text("1\n")
        (folder / "site").mkdir()
        (folder / "site/sitecustomize.py").write_text(AT_ONCE.format(folder=str(folder)))
        environment = {"TESSERA_MACHINE_STATE": str(self.state), "PYTHONPATH": str(folder / "site")}
        self.pool = (REAL if real else folder / "sysfs") / "hugepages-2048kB"
        if not real:
            environment["TESSERA_HUGEPAGES_SYSFS"] = str(self.pool.parent)
            self.pool.mkdir(parents=True)
            for name, count in (("nr", 100), ("free", 0), ("resv", 0), ("surplus", 0)):
                (self.pool / f"{name}_hugepages").write_text(f"{count}\n")
        self.before = self.found()
        self.log = (folder / "said").open("w")
        self.checkouts = [
            Checkout(source, folder / f"checkout-{number}", environment, self.log)
            for number, source in enumerate(sources)
        ]
        self.counts: Counter[str] = Counter()
        self.seconds: dict[str, list[float]] = {work: [] for work in (*WORK, "restart")}
        self.wrong: list[str] = []
        for work in (*WORK[:3], *(["fix"] if fix else [])):  # how long it takes without a kill
            self._together([work, "restart"], kill=0)

    def found(self) -> dict[str, str]:
        """Pool, settings, and records."""
        found = {path.name: path.read_text().strip() for path in self.settings}
        found["pages"] = (self.pool / "nr_hugepages").read_text().strip()
        found["records"] = " ".join(sorted(path.name for path in self.state.glob("*.json")))
        found["aside"] = " ".join(sorted(path.name for path in self.state.glob("*.damaged")))
        return found

    def run(self, number: int) -> None:
        """One round."""
        works = ["fix" if self.random.random() < self.fix else self.random.choice(WORK[:3]) for _ in range(2)]
        self._together(works, kill=0.85)
        left = self.found()
        self.counts["rounds"] += 1
        self.counts["kills left pages"] += left["pages"] != self.before["pages"]
        self.counts["kills left settings"] += any(left[p.name] != self.before[p.name] for p in self.settings)
        self.counts["kills left records"] += left["records"] != self.before["records"]
        self._together(["restart"] * 2, kill=0.3)
        self._together(["restart"] * 2, kill=0)
        if (found := self.found()) != self.before:
            differs = [
                f"{name} {found[name]} in place of {value}"
                for name, value in self.before.items()
                if found[name] != value
            ]
            self.wrong.append(f"round {number} ({' and '.join(works)}): {', '.join(differs)}")
            self.before = found

    def _together(self, works: Sequence[str], kill: float) -> None:
        """Work of each checkout at the same time, each killed with a probability, until all have ended."""
        running = []
        for number, (checkout, work) in enumerate(zip(self.checkouts, works, strict=True)):
            end = self.folder / f"end-{number}"
            end.unlink(missing_ok=True)
            pid = checkout.start(
                work=work, settings=list(map(str, self.settings)), value=str(number + 2), end=str(end),
                pages=self.random.randint(1, MOST_PAGES), hold=self.random.choice((0, 0.01, 0.04)),
            )  # fmt: skip
            span = 1.5 * statistics.median(self.seconds[work] or [1.0])
            at = time.monotonic() + self.random.uniform(0, span) if self.random.random() < kill else None
            running.append((at, pid, work, end))
        for at, pid, work, _ in sorted(
            (one for one in running if one[0] is not None), key=lambda one: one[0]
        ):
            time.sleep(max(0.0, at - time.monotonic()))
            self._kill(pid, work)
        for _, pid, work, end in running:
            self._await(pid)
            if end.exists():
                said = json.loads(end.read_text())
                self.counts[f"{work}: {said['said']}"] += 1
                if said["said"] == "done":
                    self.seconds[work].append(said["seconds"])
            else:
                self.counts[f"{work}: killed"] += 1
        for guardian in self._guardians():  # one that is not killed undoes
            self._await(guardian)

    def _kill(self, pid: int, work: str) -> None:
        """Kill a process, and at times its guardian, before or after it."""
        victims = [pid]
        if work == "fix" and self.random.random() < 0.5:
            victims += self._guardians()
            self.random.shuffle(victims)
            self.counts["guardians killed"] += len(victims) - 1
        for victim in victims:
            with contextlib.suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)

    def _guardians(self) -> list[int]:
        """Guardians of these checkouts: their records are in this folder."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if b"environment.guardian" in (process / "cmdline").read_bytes():
                    if os.fsencode(self.state) in (process / "environ").read_bytes():
                        found.append(int(process.name))
        return found

    def _await(self, pid: int) -> None:
        end = time.monotonic() + SECONDS
        while _lives(pid):
            if time.monotonic() > end:
                raise TimeoutError(f"process {pid} has not ended after {SECONDS} s")
            time.sleep(0.001)

    def close(self) -> None:
        for checkout in self.checkouts:
            checkout.close()
        self.log.close()

    def table(self) -> str:
        """What happened how often."""
        lines = [f"{count:6}  {name}" for name, count in sorted(self.counts.items())]
        return "\n".join([*lines, f"{len(self.wrong):6}  rounds that ended wrong", *self.wrong])


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--real", action="store_true", help="2MB pages of this machine, as root")
    parser.add_argument("--fix", type=float, default=0.2, help="share of processes with a guardian")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--checkouts", type=Path, nargs=2, default=[ROOT, ROOT], help="folders that have src/"
    )
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return 0
    with tempfile.TemporaryDirectory(prefix="tessera-kills-", dir="/dev/shm") as folder:
        rounds = Rounds(Path(folder), options.checkouts, options.seed, real=options.real, fix=options.fix)
        for number in range(options.rounds):
            rounds.run(number)
        rounds.close()
        print(rounds.table())
        said = Counter(line.split(" (")[0] for line in (Path(folder) / "said").read_text().splitlines())
        print("said:", *(f"{count:6}  {line}" for line, count in said.most_common(20)), sep="\n")
    return int(bool(rounds.wrong))


if __name__ == "__main__":
    sys.exit(main())
