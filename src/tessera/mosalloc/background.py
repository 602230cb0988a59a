"""What else runs while a mapping is captured: a fragmenter, and co-runners. Both end with their owner."""

from __future__ import annotations

import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.core.python import module_command
from tessera.core.units import format_bytes
from tessera.mosalloc.fragmenter import LEAST_AVAILABLE, end_with_parent

_REMEDIES = {
    "above-target": "choose a larger index, or compact memory: echo 1 > /proc/sys/vm/compact_memory",
    "no-blocks": "free memory (drop caches, end programs), or choose a smaller index",
    "no-memory": "end other programs, or choose a smaller index",
}
_FOUND = {
    "above-target": "free memory is more fragmented already",
    "no-blocks": "the kernel gave no further block of 2MB",
    "no-memory": f"less than {format_bytes(LEAST_AVAILABLE)} of memory are available",
}
_ENDING_SECONDS = 10


@contextmanager
def fragmented(index: float | None) -> Iterator[int]:
    """Inside, the unusable index of free memory is at least ``index``; gives the number of broken blocks.

    Args:
        index: 0 to 1; None: memory as it is.

    Raises:
        TesseraError: the index cannot be reached (``mapping/above-target``, ``mapping/no-blocks``,
            ``mapping/no-memory``).
    """
    if index is None:
        yield 0
        return
    argv = module_command("tessera.mosalloc.fragmenter", str(index))
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            words = process.stdout.readline().split()
            if words[:1] != ["ready"]:
                raise _refused(index, words)
            yield int(words[2])
        finally:
            process.stdin.close()
            _end(process)


@contextmanager
def co_running(programs: Sequence[Sequence[str]], copies: int, seconds: float) -> Iterator[Callable[[], int]]:
    """Inside, ``copies`` processes run the programs in turn; they started ``seconds`` before.

    Gives a function that counts those that still run.

    Raises:
        TesseraError: one cannot be started, or ends within that time (``mapping/co-runner``).
    """
    started: list[subprocess.Popen] = []
    try:
        for number in range(copies):
            argv = list(programs[number % len(programs)])
            try:
                started.append(
                    subprocess.Popen(
                        argv,
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.DEVNULL,
                        stderr=subprocess.DEVNULL,
                        preexec_fn=end_with_parent,
                    )
                )
            except OSError as error:
                raise _failed(argv, error.strerror or str(error)) from None
        if started:
            time.sleep(seconds)
        for process in started:
            if process.poll() is not None:
                raise _failed(process.args, f"it ended with status {process.returncode} before the capture")
        yield lambda: sum(process.poll() is None for process in started)
    finally:
        for process in started:
            _end(process)


def _end(process: subprocess.Popen) -> None:
    """SIGTERM, and SIGKILL if that does not suffice."""
    process.terminate()
    try:
        process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _refused(index: float, words: list[str]) -> TesseraError:
    code = words[1] if words[:1] == ["failed"] else ""
    reached = f" (index {words[2]})" if len(words) > 2 else ""
    return TesseraError(
        f"free memory with the unusable index {index:g}",
        _FOUND.get(code, "the fragmenter ended") + reached,
        _REMEDIES.get(code, "see its message above"),
        exit_code=EXIT_FAILED,
        code=f"mapping/{code or 'fragmenter'}",
    )


def _failed(argv: Sequence[str], found: str) -> TesseraError:
    return TesseraError(
        f"co-runner '{shlex.join(argv)}'", found, "give one that runs longer, or a smaller --warm-seconds",
        exit_code=EXIT_FAILED,
        code="mapping/co-runner",
    )  # fmt: skip
