"""Failures of the allocator that we come after."""

from __future__ import annotations

from .rows import Row, failure, under

ROWS: tuple[Row, ...] = (
    failure(
        "threads",
        "Several threads in the pools at once.",
        *under("threads"),
        "ThreadsTest.NobodyGetsMemoryOfAnother",
    ),
    failure("memalign", "posix_memalign, aligned_alloc and friends.", *under("memalign")),
    failure(
        "mremap",
        "Growing, shrinking and moving, to a place of the program's choice too.",
        *under("mremap"),
        *under("mremap_fixed"),
        *under("dontunmap"),
        *under("realloc_sizes"),
    ),
    failure(
        "map_fixed_and_hints",
        "A place of the program's choice, replaced or respected.",
        *under("map_fixed"),
        *under("hints_and_flags"),
    ),
    failure("map_shared", "Shared memory is seen by a child.", *under("map_shared"), *under("files")),
    failure("mprotect", "PROT_NONE reservations and changing protections.", *under("mprotect")),
    failure(
        "zeroed_again", "Memory reads zero after munmap and mmap.", *under("zeroed_again"), *under("brk")
    ),
    failure("partial_munmap", "The rest of a mapping stays.", *under("partial_munmap")),
    failure("fork", "A child has its own memory.", *under("fork", "4kb", "2mb", "1gb")),
    failure("exec_of_children", "A program that starts others.", *under("exec"), *under("spawn")),
    failure(
        "pool_exhaustion",
        "NULL and ENOMEM for the program, a message with the row that would do for its user.",
        "traps/test_full_pools.py::test_the_message_names_pool_mark_and_a_row_that_does",
        "traps/test_full_pools.py::test_malloc_goes_on_until_both_pools_are_full",
        "traps/test_full_pools.py::test_nothing_is_said_when_nothing_was_refused",
        "test_mosaics.py::test_exhaustion_inside_a_window",
        "test_launcher.py::test_pools_full_is_ENOMEM",
    ),
    failure(
        "2MB_and_1GB_together",
        "Pages of both sizes in one pool.",
        "test_mosaics.py::test_1gb_pages",
        "test_proof.py::test_with_a_page_of_1gb_too",
    ),
    failure(
        "preloaded_already",
        "LD_PRELOAD names another library: both are there.",
        *under("malloc_sizes", "preload"),
        *under("threads", "preload"),
        "traps/test_before_start.py::test_another_preloaded_library_stays_and_its_memory_is_reported",
    ),
    failure(
        "addresses_not_reused",
        "Virtual memory grows with each call, though what is mapped does not.",
        "traps/test_processes.py::test_addresses_are_reused",
        "FreeList.AgreesWithTheOracleAndAlwaysCoalesces",
    ),
    failure(
        "slow_malloc",
        "Small malloc and free cost 1.7 times what they cost without it.",
        "test_benchmark.py::test_bounds_are_the_promised_ones",
        "test_benchmark.py::test_quick_run",
    ),
)
