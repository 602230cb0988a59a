"""Kill the main process of a run, and it alone, again and again: nothing of the run may stay at work.

    python -P tests/pipeline/kill_main.py 50

Each run has a step whose shell has a child in the background, one that ignores SIGTERM, and one in a
container that ignores it, too (if Docker has the image of the toolchain). Prints a line for each run, and how
many left nothing.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tessera.core.files import repo_root
from tessera.machine.container import engine
from tessera.machine.container.image_inputs import toolchain_tag

LIMIT_SECONDS = 10  #: from the kill until nothing is left
START_SECONDS = 90

SNAKEFILE = """
from pathlib import Path
from tessera.cli.pipeline.failures import begin_run
onstart: begin_run(Path("results/x"))
rule all:
    input: expand("results/x/{step}.end", step=STEPS),
rule plain:
    output: "results/x/plain.end",
    shell: "sleep 1000 & touch results/x/plain; sleep 1000"
rule stubborn:
    output: "results/x/stubborn.end",
    shell: "trap '' TERM; touch results/x/stubborn; while :; do sleep 1; done"
rule container:
    output: "results/x/container.end",
    shell: "python -P container.py"
"""

CONTAINER = """
from pathlib import Path
from tessera.machine.container import RunOptions
from tessera.machine.container.toolchain import DockerToolchain
folder = Path("results/x").absolute()
script = "trap '' TERM; touch %s/container; while :; do sleep 1; done" % folder
DockerToolchain({tag!r}).run(["sh", "-c", script], options=RunOptions(writes=(folder,)))
"""


def has_image() -> bool:
    """Whether Docker has the image of this checkout's toolchain."""
    if engine.container_engine_name() != engine.DOCKER or engine.server_version() is None:
        return False
    return engine.docker("image", "inspect", toolchain_tag()).returncode == 0


def write_checkout(folder: Path, steps: list[str]) -> None:
    """A folder in which a run has these steps, which never end."""
    (folder / "Snakefile").write_text(f"STEPS = {steps}\n{SNAKEFILE}")
    (folder / "container.py").write_text(CONTAINER.format(tag=toolchain_tag()))
    profile = folder / "profiles" / "default"
    profile.mkdir(parents=True)
    profile.joinpath("config.yaml").write_text((repo_root() / "profiles/default/config.yaml").read_text())


def start(folder: Path, steps: list[str]) -> subprocess.Popen:
    """Start a run; returns when all its steps are at work."""
    with (folder / "log").open("w") as log:
        main = subprocess.Popen(
            [sys.executable, "-m", "snakemake", "--cores", str(len(steps))],
            cwd=folder,
            env=os.environ | {"TESSERA_ROOT": str(folder)},
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    begun, deadline = [folder / "results" / "x" / step for step in steps], time.monotonic() + START_SECONDS
    while not all(path.exists() for path in begun):
        if main.poll() is not None or time.monotonic() > deadline:
            main.kill()
            raise RuntimeError(f"the steps did not begin: {(folder / 'log').read_text()[-2000:]}")
        time.sleep(0.05)
    return main


def at_work(folder: Path) -> Iterator[str]:
    """Processes and containers of the runs of ``folder``, as text; their watchers aside."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            working, words = os.readlink(path / "cwd"), (path / "cmdline").read_bytes()
        except OSError:  # it has ended
            continue
        if working == str(folder):
            yield f"process {path.name}: {words.replace(bytes(1), b' ').decode()}"
    if engine.container_engine_name() == engine.DOCKER and engine.server_version() is not None:
        form = f'{{{{.Names}}}} {{{{.Label "{engine.MARK_LABEL}"}}}}'
        for line in engine.docker("ps", "--all", "--format", form).stdout.splitlines():
            if line.endswith(f" {folder}"):
                yield f"container {line}"


def kill_main(folder: Path, steps: list[str]) -> tuple[float, list[str]]:
    """Seconds from the kill of a run's main process until nothing of it is left, and what is left."""
    write_checkout(folder, steps)
    main = start(folder, steps)
    assert len(list(at_work(folder))) > len(steps)
    os.kill(main.pid, signal.SIGKILL)
    killed = time.monotonic()
    main.wait()
    while left := list(at_work(folder)):
        if time.monotonic() - killed > LIMIT_SECONDS:
            break
        time.sleep(0.1)
    return time.monotonic() - killed, left


def repeat(count: int) -> int:
    """Exit status: 0 if no run left anything."""
    steps = ["plain", "stubborn", *(["container"] if has_image() else [])]
    clean = 0
    for number in range(1, count + 1):
        with tempfile.TemporaryDirectory(prefix="tessera-kill-") as name:
            seconds, left = kill_main(Path(name), steps)
        clean += not left
        print(f"{number}: {seconds:.1f} s, {'; '.join(left) or 'nothing left'}", flush=True)
    print(f"{clean} of {count} runs left nothing ({', '.join(steps)})")
    return clean != count


if __name__ == "__main__":
    sys.exit(repeat(int(sys.argv[1])))
