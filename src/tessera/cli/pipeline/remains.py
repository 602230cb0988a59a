"""What a killed run leaves at work, and its end: by the run's watcher, else by the next run.

``kill -9`` of Snakemake alone ends none of its shells, steps and containers. All of them carry the run's mark
(:class:`tessera.core.processes.WorkMark`): processes in a variable, which their children inherit, and
containers in a label. The watcher is a process of its own session, so that neither Ctrl-C nor a closed
terminal nor a signal to the run's group ends it. It waits for the end of the run's main process, and then
ends all that has the mark. If the watcher is killed, too, the next run of the checkout does it.

In a cluster, steps run on other machines and outlive the main process; they have no mark.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from tessera.core.errors import TesseraError
from tessera.core.files import remove_leftovers, repo_root
from tessera.core.processes import (
    MARK_VARIABLE,
    WorkMark,
    has_died,
    module_command,
    process_name,
    process_number,
)

#: Seconds between SIGTERM and SIGKILL, for steps to remove their files.
GRACE_SECONDS = 4
#: Seconds after which a process that SIGKILL does not end (it waits for a disk) is left.
GIVE_UP_SECONDS = 30
POLL_SECONDS = 0.1

IsWanted = Callable[[WorkMark], bool]


def watch_run() -> None:
    """Mark this process's later children as those of a run, and start the watcher that ends them with it."""
    mark = WorkMark(process_name(), str(repo_root()))
    environment = {name: value for name, value in os.environ.items() if name != MARK_VARIABLE}
    subprocess.Popen(
        module_command("tessera.cli.pipeline.remains", str(mark)),
        env=environment,  # without the mark: it would end itself
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    os.environ[MARK_VARIABLE] = str(mark)


def end_remains(results: Path) -> list[str]:
    """End what dead runs and commands of this checkout left, and remove their unfinished files.

    Returns:
        What was found, for a message.

    Raises:
        TesseraError: the Docker engine does not answer, or keeps a container.
    """
    checkout = str(repo_root())
    found = end_marked(lambda mark: mark.checkout == checkout and has_died(mark.owner))
    folders = [Path(folder) for folder, *_ in os.walk(results)]
    return found + [f"file {path}" for folder in folders for path in remove_leftovers(folder)]


def end_marked(is_wanted: IsWanted) -> list[str]:
    """End the processes with such a mark, with SIGTERM and then SIGKILL; then their containers."""
    found = _end_processes(is_wanted)
    from tessera.machine.container import engine  # slow to import: the watcher of most runs ends nothing
    from tessera.machine.container.process import end_containers

    if engine.container_engine_name() == engine.DOCKER and shutil.which("docker"):
        found += [f"container {name}" for name in end_containers(is_wanted)]
    return found


def _end_processes(is_wanted: IsWanted) -> list[str]:
    begin, told = time.monotonic(), dict[int, str]()
    while (seconds := time.monotonic() - begin) < GIVE_UP_SECONDS:
        left = list(marked_processes(is_wanted))
        for process in left:
            number = signal.SIGTERM if seconds < GRACE_SECONDS else signal.SIGKILL
            if number == signal.SIGKILL or process not in told:
                with suppress(OSError):
                    os.kill(process, number)
            told.setdefault(process, f"process {process}")
        if not left:
            break
        time.sleep(POLL_SECONDS)
    return list(told.values())


def marked_processes(is_wanted: IsWanted) -> Iterator[int]:
    """Numbers of the processes, of all that this user may look into, with such a mark; not this process."""
    prefix = MARK_VARIABLE.encode() + b"="
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # another user's, or it has ended
            for entry in path.read_bytes().split(b"\0"):
                if entry.startswith(prefix) and (pid := int(path.parent.name)) != os.getpid():
                    mark = WorkMark.parse(os.fsdecode(entry.removeprefix(prefix)))
                    if mark is not None and is_wanted(mark):
                        yield pid


# The watcher.


def main(text: str) -> None:
    """Wait for the end of the process that a mark names, and end what has the mark."""
    mark = WorkMark.parse(text)
    if mark is None:
        sys.exit(f"no mark of a run: {text}")
    _wait_for_end(mark.owner)
    os.environ["TESSERA_ROOT"] = mark.checkout
    with suppress(TesseraError):  # nobody reads it here; the next run tries again, and says it
        end_marked(lambda found: found == mark)


def _wait_for_end(owner: str) -> None:
    with suppress(OSError):  # it has ended, or the kernel is older than 5.3
        process = os.pidfd_open(process_number(owner))
        if not has_died(owner):  # else the number is another's already
            select.select([process], [], [])
    while not has_died(owner):
        time.sleep(0.5)
    time.sleep(POLL_SECONDS)  # what it was starting has its variables by now


if __name__ == "__main__":
    main(sys.argv[1])
