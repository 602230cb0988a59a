"""Traps of processes, of the kernel's settings and limits, and of marks that stay with memory."""

from __future__ import annotations

from .rows import Row, trap, under

ROWS: tuple[Row, ...] = (
    trap(
        "fork_inside_malloc",
        "A fork while other threads are inside malloc must neither stand still nor tear the tables.",
        *under("fork"),
        "traps/test_processes.py::test_fork_while_other_threads_are_inside_malloc",
    ),
    trap(
        "foreign_tasks",
        "Tasks of clone(CLONE_VM) share memory and even thread-local storage, and can be killed one by one.",
        "LockTest.TasksThatShareThreadLocalStorageExcludeEachOther",
        "LockTest.AnOwnerThatWasKilledLosesIt",
        "hostile/test_foreign_tasks.py::test_tasks_without_thread_local_storage",
        "hostile/test_foreign_tasks.py::test_a_task_that_is_killed_inside_the_library",
        "hostile/test_foreign_tasks.py::test_a_signal_ends_them",
        "hostile/test_foreign_tasks.py::test_children_of_vfork_while_pages_split",
    ),
    trap(
        "children_of_another_user",
        "A daemon that gave up its rights may not write the map of its parent; it lives all the same.",
        "traps/test_processes.py::test_a_child_of_another_user_has_a_map_of_its_own",
    ),
    trap(
        "transparent_huge_pages",
        "With THP `always` the kernel would make huge pages of what shall be 4KB.",
        "traps/test_machine.py::test_4kb_stays_4kb_when_thp_is_always",
        "traps/test_machine.py::test_windows_beside_thp_always",
        "traps/test_other_huge_pages.py::test_transparent_huge_pages_outside_the_pools",
        "traps/test_other_huge_pages.py::test_other_programs_keep_transparent_huge_pages",
    ),
    trap(
        "other_huge_pages",
        "malloc (by glibc's tunable) or the program itself takes huge pages that the layout does not have.",
        "Tunables.AnyValueOfHugetlbButZero",
        "Smaps.HugePagesOutsideThePoolsAreAMismatch",
        "traps/test_other_huge_pages.py::test_the_launcher_removes_malloc_s_huge_pages",
        "traps/test_other_huge_pages.py::test_a_program_that_sets_it_for_the_target_is_refused",
        "traps/test_other_huge_pages.py::test_the_program_s_own_huge_pages_are_no_part_of_the_layout",
    ),
    trap(
        "limits_of_cgroups",
        "A limit on huge pages below the machine's free ones makes a touch in a forked child SIGBUS.",
        "Cgroups.TheSmallestLimitOfAllAncestorsDecides",
        "traps/test_cgroups.py::test_fork_under_a_limit",
        "traps/test_cgroups.py::test_windows_above_a_limit_are_refused_by_its_name",
        "traps/test_cgroups.py::test_on_demand_a_lowered_limit_is_ENOMEM",
    ),
    trap(
        "reservations_beyond_the_pool",
        "Runtimes reserve hundreds of gigabytes of addresses and use a small part.",
        *under("reservation"),
        "Reservations.CountsEachOpenedPageOnce",
        "traps/test_reservations.py::test_a_reservation_works_as_on_plain_linux",
        "traps/test_reservations.py::test_windows_that_do_not_reach_what_is_used_are_a_mismatch",
        "traps/test_reservations.py::test_small_requests_stay_in_the_pools",
        "traps/test_reservations.py::test_a_recording_refuses_it_and_names_a_size",
    ),
    trap(
        "overcommit",
        "Reserving must cost nothing in each mode of vm.overcommit_memory, and refusals are the kernel's.",
        "traps/test_machine.py::test_overcommit",
    ),
    trap(
        "many_windows",
        "Each window is a mapping, of which the kernel allows 65530.",
        "traps/test_machine.py::test_4000_windows",
        "traps/test_machine.py::test_200_windows_with_their_pages",
        "Layout.WindowCountHasALimitThatIsNamed",
    ),
    trap(
        "marks_of_mappings",
        "Policies, names, locks and advice stay with a mapping that the library keeps for its next owner.",
        "traps/test_marks.py::test_marks_end_with_munmap",
        "traps/test_marks.py::test_new_memory_is_locked_only_if_the_program_wants_it",
        "traps/test_marks.py::test_marks_leave_holes_and_neighbours_alone",
        "traps/test_marks.py::test_marks_of_whole_huge_pages_end_with_munmap",
    ),
    trap(
        "fault_handlers",
        "A handler that is registered (userfaultfd) would go on to fill memory after munmap.",
        "traps/test_marks.py::test_a_fault_handler_does_not_fill_new_memory",
        "traps/test_marks.py::test_a_fault_handler_may_map_memory_before_it_reads_an_event",
        "traps/test_marks.py::test_a_fault_handler_over_windows_splits_them",
        "traps/test_marks.py::test_a_fault_handler_over_windows_is_refused_under_soft",
    ),
    trap(
        "memory_that_children_lack",
        "MADV_DONTFORK leaves holes in a child, where the kernel could place anything.",
        "traps/test_marks.py::test_a_child_may_fill_what_it_did_not_get",
        "traps/test_marks.py::test_a_child_has_holes_in_windows",
    ),
    trap(
        "shared_segments",
        "shmat may replace memory of a pool, and shmdt leaves a hole there.",
        "traps/test_marks.py::test_shared_segments_at_chosen_addresses",
        "traps/test_marks.py::test_a_shared_segment_over_windows_splits_them",
    ),
    trap(
        "replaced_functions",
        "Functions that are replaced for a few of their uses must do all others exactly as libc does.",
        "traps/test_marks.py::test_replaced_functions_do_what_libcs_do",
        "traps/test_marks.py::test_functions_of_the_program_may_call_syscall",
    ),
    trap(
        "limit_on_mappings",
        "Each hole in reserved memory costs two mappings, of which the kernel allows 65530.",
        "traps/test_limits.py::test_50000_holes",
    ),
    trap(
        "calls_that_fail",
        "A call with several steps must not lose contents when the kernel refuses the second.",
        "traps/test_limits.py::test_a_call_that_fails_loses_nothing",
    ),
    trap(
        "limit_on_data",
        "RLIMIT_DATA counts writable private memory: the library's tables and windows too.",
        "traps/test_limits.py::test_what_counts_against_the_limit_on_data",
        "traps/test_limits.py::test_too_low_a_limit_on_data_is_named",
    ),
    trap(
        "calls_that_block",
        "A call that waits for a disk or a fault handler must not keep other threads from the pools.",
        "traps/test_blocking.py::test_a_call_that_waits_for_a_handler_of_the_program",
        "traps/test_blocking.py::test_mappings_during_msync",
    ),
    trap(
        "counters_of_children",
        "A forked child has counters of its own, which would end with it.",
        "traps/test_children.py::test_counters_of_forked_children",
        "traps/test_children.py::test_children_of_a_program_with_windows",
    ),
)
