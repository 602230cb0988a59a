"""Runs a function where the system seems to have no free huge page, so that forks copy instead of sharing.

Taking the pages away would take them from everybody on the machine.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Callable

CLONE_NEWNS = 0x20000
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
FREE = "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages"
_DENIED = 100


def _hide_free_pages() -> None:
    """In a mount namespace of its own, so that no other process sees it."""
    libc = ctypes.CDLL(None, use_errno=True)

    def call(result: int, what: str) -> None:
        if result != 0:
            raise OSError(ctypes.get_errno(), what)

    call(libc.unshare(CLONE_NEWNS), "unshare")
    call(libc.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None), "mount /")
    with tempfile.NamedTemporaryFile("w") as zero:
        zero.write("0\n")
        zero.flush()
        call(libc.mount(zero.name.encode(), FREE.encode(), None, MS_BIND, None), f"mount {FREE}")


def without_free_pages(work: Callable[[], bool]) -> bool | str:
    """work() in such a process; a text if the system does not allow it."""
    pid = os.fork()
    if pid == 0:
        status = 2
        try:
            _hide_free_pages()
            status = 0 if work() else 1
        except OSError as error:
            print(f"  {error.filename or error.strerror}: errno {error.errno}", flush=True)
            status = _DENIED
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if status == _DENIED:
        return "a mount namespace is needed to hide the free huge pages; run as root (CAP_SYS_ADMIN)"
    return status == 0
