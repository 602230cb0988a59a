"""Energy of cells with assumed constants, and hit rates by size of L3 (docs/energy.md)."""

from __future__ import annotations

from tessera.results.schema.table import MESSAGE, PAIR, PROVENANCE, Table, columns

ENERGY = Table(
    "energy", lambda t: t.energy("energy"), "tessera energy cells", "column",
    "E8 of every cell with the assumed constants as given: no measured joules",
    (*PAIR, *columns("""
    layout        text    -       canonical name of the layout
    energy_j      number  joules  E8 with assumed constants
    static_share  number  1       share of L R/f in it
    """), *PROVENANCE),
)  # fmt: skip
SAVINGS = Table(
    "savings", lambda t: t.energy("savings"), "tessera energy cells", "column",
    "runtime and energy that mosaics save of the 4KB run, under each set of constants; without 1gb",
    (*PAIR, *columns("""
    constants              text    -  set of constants: as given, one of them changed, or a limit
    layouts                count   layouts  mosaics of the pair
    static_share           number  1  share of L R/f in the energy of the 4KB run
    runtime_saved_2mb      number  1  share of R that 2MB pages save
    energy_saved_2mb       number  1  the same of the energy
    ratio_2mb              number  1  the second over the first; 1 is OPERA's statement
    fastest_layout         text    -  layout with the least R
    runtime_saved_fastest  number  1  share of R that it saves
    energy_saved_fastest   number  1  the same of the energy
    least_energy_layout    text    -  layout with the least energy
    energy_saved_least     number  1  share of the energy that it saves
    excess_of_fastest      number  1  energy of the fastest layout over the least, minus one
    fastest_needs_least    truth   -  whether this is at most 0.001
    reversed_share         number  1  share of pairs of layouts whose faster one needs more energy
    """), *PROVENANCE),
)  # fmt: skip
THREADS_SWEEP = Table(
    "threads_sweep", lambda t, w="*", p="*": t.threads_sweep(w, p), "tessera threads sweep", "column",
    "hit rate of one trace with L3 / n, as n threads that share L3 evenly and share no data would see it",
    (*PAIR, *columns("""
    threads            count   threads       n
    l3_bytes           count   bytes         L3 / n, rounded to whole sets
    status             text    -             ok or failed
    """), *MESSAGE, *columns("""
    accesses           count   accesses      memory instructions: loads and stores of the trace
    dram_loads         count   loads         the program's loads that reached memory, scaled by accesses
    hit_rate           number  1             P = 1 - dram_loads / accesses
    fitted_hit_rate    number  1             E2 with the two values behind
    locality_exponent  number  1             a of E2, fitted to all rows
    locality_bytes     number  bytes         w of E2, fitted to all rows
    """), *PROVENANCE),
)  # fmt: skip
TABLES = (ENERGY, SAVINGS, THREADS_SWEEP)
