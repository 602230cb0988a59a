"""Why the kernel does not open an event, in words, with the next step. Source: perf_event_open(2), ERRORS."""

from __future__ import annotations

import errno
import os

_PERMISSION = (
    "this user may not open it (kernel.perf_event_paranoid)",
    "sudo sysctl kernel.perf_event_paranoid=1; in a container: --cap-add PERFMON",
)
_ABSENT = (
    "the kernel has no PMU for it",
    "run on bare metal, or let the hypervisor give the guest a PMU",
)
_WORDS = {
    errno.EACCES: _PERMISSION,
    errno.EPERM: _PERMISSION,
    errno.ENOENT: _ABSENT,
    errno.ENODEV: _ABSENT,
    errno.ENXIO: _ABSENT,
    errno.EINVAL: (
        "the PMU rejects its code, or the group does not fit on the counters",
        "check the class of the processor (tessera counters list), SMT, and the NMI watchdog",
    ),
    errno.EOPNOTSUPP: ("the PMU cannot count it so", "leave the pass out, or use a newer kernel"),
    errno.EBUSY: ("another program has the PMU to itself", "end other profilers, then try again"),
    errno.EMFILE: ("too many open files", "raise the limit: ulimit -n 1024"),
    errno.ENOSYS: (
        "this kernel, or the container's filter, has no perf_event_open",
        "run outside of the container, or with: --security-opt seccomp=unconfined",
    ),
}


def refusal(error: OSError) -> tuple[str, str]:
    """(found, remedy); the name of the errno is in ``found``."""
    number = error.errno or 0
    name = errno.errorcode.get(number, str(number))
    words, remedy = _WORDS.get(number, (os.strerror(number), "see perf_event_open(2)"))
    return f"{words} ({name})", remedy
