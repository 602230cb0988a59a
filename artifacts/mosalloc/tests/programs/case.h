/* case.h - behaviours that a program may rely on, one function each. The kernel is the oracle: all cases also pass
 * without the library. The same executable runs without the library, with it, and under QEMU. */
#ifndef MOSALLOC_TESTS_CASE_H
#define MOSALLOC_TESTS_CASE_H

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition)                                                                 \
    do {                                                                                   \
        if (!(condition)) {                                                                \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                                       \
        }                                                                                  \
    } while (0)

enum { PAGE = 4096 };

char* anonymous(size_t bytes, int prot);
int all_bytes(const char* at, size_t bytes, char value);
/* 1 if reading (or writing) *at ends in SIGSEGV or SIGBUS. */
int faults(volatile char* at, int write);

struct test_case {
    const char* name;
    void (*run)(void);
};

void case_zeroed_again(void);
void case_partial_munmap(void);
void case_mremap(void);
void case_mremap_fixed(void);
void case_map_fixed(void);
void case_file_over_memory(void);
void case_map_shared(void);
void case_prot_none(void);
void case_mprotect(void);
void case_guard(void);
void case_madvise(void);
void case_hints_and_flags(void);
void case_malloc_sizes(void);
void case_memalign(void);
void case_brk(void);
void case_threads(void);
void case_fork(void);
void case_exec(void);
void case_signal(void);
void case_holes(void);
void case_dontunmap(void);
void case_files(void);
void case_spawn(void);
void case_raw_fork(void);
void case_wipe_on_fork(void);
void case_locked(void);
void case_dlopen(void);
void case_realloc_sizes(void);
void case_reservation(void);

#endif
