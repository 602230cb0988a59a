"""Traps of huge pages: parts of them, their contents while they are exchanged, and too few of them."""

from __future__ import annotations

from .rows import Row, trap, under

ROWS: tuple[Row, ...] = (
    trap(
        "mprotect_of_132KB",
        "Hugetlb refuses to protect a part of a page, which is how malloc grows its arenas.",
        "traps/test_huge_parts.py::test_calls_that_hugetlb_refuses",
        *under("prot_none", "2mb", "1gb"),
    ),
    trap(
        "munmap_of_4KB",
        "Hugetlb refuses to unmap a part of a page.",
        "traps/test_huge_parts.py::test_calls_that_hugetlb_refuses",
        *under("partial_munmap", "2mb", "1gb"),
        *under("holes", "2mb", "1gb"),
    ),
    trap(
        "guard_pages",
        "One page of a huge page can't be made to fault; the huge page gives way, or softness is counted.",
        "traps/test_huge_parts.py::test_a_guard_page_traps_under_guards",
        "traps/test_huge_parts.py::test_a_guard_page_is_soft_under_soft",
        "traps/test_huge_parts.py::test_a_guard_page_in_4kb_parts_costs_nothing",
        *under("guard", "4kb", "2mb", "exact"),
    ),
    trap(
        "file_over_a_window",
        "A file mapped over a part of a huge page must be that file.",
        "traps/test_huge_parts.py::test_a_file_mapped_over_a_window",
        *under("file_over_memory"),
    ),
    trap(
        "other_writers",
        "The kernel writes for another thread into a page that is split: the write waits, or the page stays.",
        "traps/test_other_writers.py::test_reads_wait_until_the_page_is_split",
        "traps/test_other_writers.py::test_without_the_privilege_the_page_stays_and_no_read_fails",
    ),
    trap(
        "pinned_frames",
        "Rings, AIO and direct I/O write to frames: a page that they may use is never exchanged.",
        "PinsTest.ARingByItsDescriptor",
        "PinsTest.ARingByItsMappingWhenTheDescriptorIsClosed",
        "PinsTest.RegisteredBuffersAreCountedByTheKernel",
        "PinsTest.AContextOfLinuxAio",
        "PinsTest.DirectDescriptorsCountOnlyBesideOtherTasksAndAreForgotten",
        "hostile/test_pins.py::test_registered_buffers",
        "hostile/test_pins.py::test_what_the_kernel_looks_up_in_memory_of_the_program",
        "hostile/test_pins.py::test_a_ring_without_descriptor_in_memory_of_the_program",
        "hostile/test_pins.py::test_linux_aio_in_flight",
        "hostile/test_pins.py::test_direct_reads_of_another_thread",
        "hostile/test_pins.py::test_a_ring_that_is_gone_before_the_first_split",
    ),
    trap(
        "pages_taken_by_others",
        "On demand a page may be gone when it is needed: ENOMEM for the program, never SIGBUS.",
        "traps/test_on_demand.py::test_pages_that_somebody_else_took_are_ENOMEM",
        "traps/test_on_demand.py::test_a_run_that_could_never_have_them_does_not_start",
    ),
    trap(
        "pages_on_demand",
        "Pages are taken as they are used and go back past a threshold.",
        "traps/test_on_demand.py::test_pages_are_taken_as_they_are_used",
        "traps/test_on_demand.py::test_unused_pages_are_kept_up_to_the_threshold",
        "traps/test_on_demand.py::test_with_prefault_all_are_taken_at_start",
        *under("zeroed_again", "demand"),
        *under("malloc_sizes", "demand"),
    ),
    trap(
        "fork_without_free_pages",
        "A child that writes to a huge page needs another; without one the kernel kills it by SIGBUS.",
        "traps/test_forks.py::test_fork_without_free_pages",
        "traps/test_forks.py::test_fork_one_page_short_is_a_fork_without_pages",
        "traps/test_forks.py::test_fork_with_enough_pages_copies_nothing_ahead",
        "test_mosaics.py::test_fork_without_free_pages_gives_the_child_small_ones",
    ),
    trap(
        "marks_of_parts",
        "A huge page cannot keep a mark for a part of itself: it is split, or the program gets an error.",
        "traps/test_marks.py::test_parts_of_huge_pages_refuse_marks",
        "traps/test_marks.py::test_parts_of_huge_pages_split_for_advice",
    ),
    trap(
        "reservations",
        "Reserving addresses without access must not cost the zeroing of huge pages.",
        "traps/test_huge_parts.py::test_reservations_without_access_are_not_cleared",
    ),
    trap(
        "own_stacks",
        "A thread or coroutine changes the huge page that holds its own stack: nothing may wait for itself.",
        "hostile/test_stacks.py::test_own_stacks",
        "hostile/test_stacks.py::test_java_with_stacks_in_windows",
        "hostile/test_stacks.py::test_fifty_runs_of_each_case",
    ),
    trap(
        "lost_writes",
        "Threads, the kernel and other processes write to a huge page while it is exchanged.",
        "hostile/test_lost_writes.py::test_counters_are_exact",
        "hostile/test_lost_writes.py::test_the_kernels_writes_arrive",
        "hostile/test_lost_writes.py::test_another_process_writes",
    ),
)
