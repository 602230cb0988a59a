"""Each trap of a preloaded allocator, and each failure of the one we come after: where it is tested.

A test is named as its runner names it: ``2mb.fork`` (ctest, in the build folder) or ``file.py::function``
(pytest, relative to tests/mosalloc). ``4kb``, ``2mb``, ... before a ctest case are the conditions of
artifacts/mosalloc/tests/run_under.py; the same case also runs on the bare kernel, which is the oracle.
"""

from __future__ import annotations

from dataclasses import dataclass

TRAP, FAILURE = "trap", "known failure"


@dataclass(frozen=True)
class Row:
    """``kind`` is TRAP (of the technique) or FAILURE (of the original); ``tests`` must all exist."""

    kind: str
    name: str
    sentence: str
    tests: tuple[str, ...]


def trap(name: str, sentence: str, *tests: str) -> Row:
    return Row(TRAP, name, sentence, tests)


def failure(name: str, sentence: str, *tests: str) -> Row:
    return Row(FAILURE, name, sentence, tests)


def under(case: str, *conditions: str) -> tuple[str, ...]:
    """A case of the ctest suite under each of some conditions, all 4KB and all 2MB if none is named."""
    return tuple(f"{condition}.{case}" for condition in conditions or ("4kb", "2mb"))


ROWS: tuple[Row, ...] = (
    trap(
        "heap_above_the_kernels",
        "With its heap pool below the kernel's heap, malloc sees a break that shrank and aborts.",
        "traps/test_before_start.py::test_the_heap_pool_lies_above_the_kernels_heap",
        "test_launcher.py::test_unlimited_stacks_put_mappings_low_and_the_pools_above_the_heap",
    ),
    trap(
        "calls_of_before",
        "The dynamic linker and earlier constructors have memory already: it is used up and reported.",
        "traps/test_before_start.py::test_memory_of_before_is_reported_and_used_up",
        "traps/test_before_start.py::test_another_preloaded_library_stays_and_its_memory_is_reported",
    ),
    trap(
        "ends_without_destructors",
        "_exit and SIGKILL run no destructor, so the pool map must outlive the process in a file.",
        "traps/test_endings.py::test_the_pool_map_is_readable_after",
        "traps/test_endings.py::test_nothing_is_left_when_the_launcher_is_killed",
        "test_mosaics.py::test_pages_are_confirmed_however_the_program_ends",
        "test_mosaics.py::test_pages_go_back_when_the_program_ends",
    ),
    trap(
        "run_sh",
        "A script's shell inherits the environment; only the target may get the layout.",
        "traps/test_before_start.py::test_run_sh_gets_no_layout_but_the_target_does",
        "test_launcher.py::test_only_the_target_gets_the_layout",
        "test_launcher.py::test_scripts_are_refused_with_their_interpreter",
    ),
    trap(
        "address_space_limit",
        "The reservation counts against RLIMIT_AS: one that is too tight is named, one that is enough works.",
        "traps/test_before_start.py::test_address_space_limit",
        "traps/test_before_start.py::test_a_limit_met_later_is_ENOMEM_as_without_the_library",
        "test_launcher.py::test_address_space_limits_are_named",
    ),
    trap(
        "mdwe",
        "Where a policy forbids to change code, libc cannot be patched: refused before the program runs.",
        "test_launcher.py::test_a_policy_against_patching_is_a_refusal",
    ),
    trap(
        "static_programs",
        "Nothing can be preloaded into a static program; the ELF file says so before it runs.",
        "test_launcher.py::test_static_programs_are_refused",
    ),
    trap(
        "secure_programs",
        "The system drops LD_PRELOAD from set-user-ID programs (AT_SECURE).",
        "test_launcher.py::test_set_user_id_programs_are_refused",
    ),
    trap(
        "musl",
        "Programs for another libc have other entry points.",
        "test_launcher.py::test_musl_programs_are_refused",
        "test_other_libcs.py::test_musl_programs_are_refused_by_the_library_or_left_alone",
        "test_other_libcs.py::test_a_target_may_start_musl_programs",
    ),
    trap(
        "other_glibc",
        "A newer glibc has other code to patch; an older one lacks symbols that the build's glibc has.",
        "test_other_libcs.py::test_cases_and_random_calls_under_debian_13",
        "test_other_libcs.py::test_no_symbol_is_newer_than_glibc_2_34",
    ),
    trap(
        "dlmopen",
        "A second copy of libc is not patched: it is detected and its memory counted as unseen.",
        "traps/test_unseen.py::test_dlmopen_is_detected",
    ),
    trap(
        "raw_system_calls",
        "Memory taken without libc comes past every preloaded library: its size is reported.",
        "traps/test_unseen.py::test_raw_system_calls_are_detected",
        "traps/test_unseen.py::test_without_them_nothing_is_said",
        *under("raw_fork"),
    ),
    trap(
        "signals",
        "A handler that allocates may interrupt an allocation of its own thread.",
        *under("signal"),
    ),
    trap(
        "no_file_and_no_wish",
        "A layout may be a pipe, a request an overflow probe, and a map file that of a killed launcher.",
        "test_limits_and_files.py::test_a_layout_is_a_regular_file",
        "test_limits_and_files.py::test_an_overflow_probe_is_no_wish",
        "test_limits_and_files.py::test_memory_at_hints_is_noted",
        "test_limits_and_files.py::test_map_files_of_killed_launchers_go",
    ),
    trap(
        "seccomp_kills",
        "A seccomp filter may kill for a call that only the library makes: refused at start, or listed.",
        "test_seccomp.py::test_a_filter_that_kills_is_refused_at_start",
        "test_seccomp.py::test_a_filter_that_answers_is_no_reason",
        "test_seccomp.py::test_marks_of_huge_pages_end_by_a_call_that_may_kill",
        "test_seccomp.py::test_a_kill_by_a_later_filter_names_the_list",
        "test_seccomp.py::test_the_list_of_calls_is_complete",
    ),
    trap(
        "starters",
        "env, nice and timeout start the program that needs the layout; a shell starts many.",
        "test_starters.py::test_the_started_program_gets_the_layout_alone",
        "test_starters.py::test_a_shell_needs_a_target",
        "test_starters.py::test_a_shell_behind_a_starter_needs_a_target",
        "test_starters.py::test_a_program_that_only_starts_another_one_is_noted",
        "test_starters.py::test_a_program_that_becomes_another_one_is_named",
    ),
    trap(
        "saves_on_ctrl_c",
        "A program may save its data on SIGINT or SIGTERM: it gets the signal once, and time to end.",
        "test_interrupts.py::test_a_program_saves_its_data",
        "test_interrupts.py::test_pages_go_back_after_the_data_is_saved",
        "test_interrupts.py::test_two_signals_are_two",
    ),
    trap(
        "fork_inside_malloc",
        "A fork while other threads are inside malloc must neither stand still nor tear the tables.",
        *under("fork"),
        "traps/test_processes.py::test_fork_while_other_threads_are_inside_malloc",
    ),
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
        "fork_without_free_pages",
        "A child that writes to a huge page needs another; without one the kernel kills it by SIGBUS.",
        "traps/test_forks.py::test_fork_without_free_pages",
        "traps/test_forks.py::test_fork_one_page_short_is_a_fork_without_pages",
        "traps/test_forks.py::test_fork_with_enough_pages_copies_nothing_ahead",
        "test_mosaics.py::test_fork_without_free_pages_gives_the_child_small_ones",
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
        "children_of_another_user",
        "A daemon that gave up its rights may not write the map of its parent; it lives all the same.",
        "traps/test_processes.py::test_a_child_of_another_user_has_a_map_of_its_own",
    ),
    trap(
        "transparent_huge_pages",
        "With THP `always` the kernel would make huge pages of what shall be 4KB.",
        "traps/test_machine.py::test_4kb_stays_4kb_when_thp_is_always",
        "traps/test_machine.py::test_windows_beside_thp_always",
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
        "marks_of_parts",
        "A huge page cannot keep a mark for a part of itself: it is split, or the program gets an error.",
        "traps/test_marks.py::test_parts_of_huge_pages_refuse_marks",
        "traps/test_marks.py::test_parts_of_huge_pages_split_for_advice",
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
        "reservations",
        "Reserving addresses without access must not cost the zeroing of huge pages.",
        "traps/test_huge_parts.py::test_reservations_without_access_are_not_cleared",
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
    trap(
        "counters_of_children",
        "A forked child has counters of its own, which would end with it.",
        "traps/test_children.py::test_counters_of_forked_children",
        "traps/test_children.py::test_children_of_a_program_with_windows",
    ),
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
