"""Code that the experiments' scripts for the guest share."""

from __future__ import annotations

from tessera.core.errors import EXIT_FAILED, TesseraError
from tessera.kernel.guest import GuestRun

#: Allow replicas to processes that ask.
ON = "echo 1 > /proc/sys/vm/pgtable_replication || exit\n"
#: On a kernel without the patches each tool must refuse and say why.
REFUSED = """pgtblrepl -r all true 2> /out/refused
[ $? = 2 ] && grep -q 'no vm.pgtable_replication' /out/refused || exit 90
pagetable-dump 1 2>> /out/refused
[ $? = 2 ] && grep -q 'pagetable-dump: this kernel has no' /out/refused || exit 91
replication-on 2>> /out/refused
[ $? = 2 ] && grep -q 'this kernel has no replicas' /out/refused || exit 92
"""
#: configuration -> kernel variant, first lines of the script, wrapper of the program, copies of the tables
CONFIGS = {
    "unpatched": ("plain", REFUSED, "", 1),
    "off": ("measure", "", "", 1),
    "on, not replicated": ("measure", ON, "", 1),
    "replicated": ("measure", ON, "pgtblrepl -r 0-3", 4),
}


def folder_name(config: str) -> str:
    """Name of a configuration's folder."""
    return config.replace(",", "").replace(" ", "-")


def failed(what: str, done: GuestRun) -> TesseraError:
    """The error for a script that failed in the guest."""
    return TesseraError(
        what,
        f"the script in the guest exited with status {done.status}: {done.text('stderr').strip()[-300:]}",
        f"read the files of {done.folder}",
        exit_code=EXIT_FAILED,
    )
