"""Runs a function where the system seems to have no free huge page, so that forks copy instead of sharing.

Taking the pages away would take them from everybody on the machine.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
FREE = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"


def _hide_free_pages() -> None:
    """In a mount namespace of its own, so that no other process sees it."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(result: int, what: str) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), what)

    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNS) != 0:  # not root: in a user namespace of its own, too
        call(libc.unshare(CLONE_NEWNS | CLONE_NEWUSER), "unshare")
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    call(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount /")
    with tempfile.NamedTemporaryFile("w") as zero:
        zero.write("0\n")
        zero.flush()
        call(libc.mount(zero.name.encode(), FREE.encode(), None, MS_BIND, None), f"mount {FREE}")


def without_free_pages(work: Callable[[], bool | str]) -> bool | str:
    """work() in such a process; a text if it gave one, or if the system does not allow it."""
    answer, here = os.pipe()
    pid = os.fork()
    if pid == 0:
        result: bool | str = False
        try:
            _hide_free_pages()
            result = work()
        except OSError as error:
            result = f"hiding the free huge pages needs a mount namespace ({error}); run as root"
        finally:
            os.write(here, result.encode() if isinstance(result, str) else b"")
            os._exit(0 if result is True else 1)
    os.close(here)
    with os.fdopen(answer) as stream:
        reason = stream.read()
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return reason or status == 0
