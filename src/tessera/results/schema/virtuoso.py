"""What page faults cost a program, as figures of Virtuoso (ASPLOS 2025) show it (docs/faults.md)."""

from __future__ import annotations

from tessera.results.schema.table import MESSAGE, PAIR, PROVENANCE, Table, columns

_WRITER = "tessera virtuoso program"
_SCENARIO = columns("scenario  text  -  name of the scenario (config/scenarios)")

FAULT_SHARES = Table(
    "fault_shares", lambda t, w="*": t.virtuoso(w, "shares"), _WRITER, "column",
    "a program with the kernel work of its page faults: parts of its runtime under each scenario",
    (*PAIR, *_SCENARIO, *columns("status  text  -  ok or failed"), *MESSAGE, *columns("""
    runtime_cycles         number  cycles        R, with the kernel's work in faults
    runtime_cycles_ci95    number  cycles        half-width of its 95% interval
    faultless_cycles       number  cycles        R under the same scenario if faults take no time
    instructions           count   instructions  of the program
    accesses               count   accesses      of the program
    faults                 count   faults        page faults
    faults_2mb             count   faults        those that gave a 2MB page
    stlb_misses            count   translations  M of the program
    walk_cycles            number  cycles        C of the program
    kernel_instructions    count   instructions  of the kernel in faults
    kernel_cycles          number  cycles        part of R in faults
    kernel_walk_cycles     number  cycles        walk cycles of the kernel's own accesses
    fault_share            number  1             kernel_cycles over R
    translation_share      number  1             C over R; walks overlap with other work, so a bound
    cycles_per_walk        number  cycles        C over M
    """), *PROVENANCE),
)  # fmt: skip
TABLES = (FAULT_SHARES,)
