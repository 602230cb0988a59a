"""Traps before and at the start of a program, and programs that the library cannot serve."""

from __future__ import annotations

from .rows import Row, trap, under

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
        "sanitizers",
        "A sanitizer's runtime replaces malloc by one that makes raw system calls: no pool would be used.",
        "test_sanitizers.py::test_a_sanitizer_is_named_before_the_start_or_the_program_runs",
        "test_sanitizers.py::test_what_could_not_be_seen_before_is_named_at_the_end",
        "test_sanitizers.py::test_a_library_with_a_sanitizer_is_named",
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
)
