/* cases NAME...: runs the named cases in this process; without names it lists them. */
#define _GNU_SOURCE
#include "case.h"

#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

char* anonymous(size_t bytes, int prot) {
    char* at = mmap(NULL, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    return at;
}

int all_bytes(const char* at, size_t bytes, char value) {
    for (size_t i = 0; i < bytes; ++i)
        if (at[i] != value) return 0;
    return 1;
}

static sigjmp_buf g_escape;
static void escape(int number) { siglongjmp(g_escape, number); }

int faults(volatile char* at, int write) {
    struct sigaction catching = {.sa_handler = escape}, before[2];
    sigaction(SIGSEGV, &catching, &before[0]);
    sigaction(SIGBUS, &catching, &before[1]);
    int caught = 1;
    if (sigsetjmp(g_escape, 1) == 0) {
        if (write) *at = 1;
        else (void)*at;
        caught = 0;
    }
    sigaction(SIGSEGV, &before[0], NULL);
    sigaction(SIGBUS, &before[1], NULL);
    return caught;
}

static const struct test_case kCases[] = {
    {"zeroed_again", case_zeroed_again, 0},
    {"partial_munmap", case_partial_munmap, 0},
    {"mremap", case_mremap, 0},
    {"mremap_fixed", case_mremap_fixed, 0},
    {"map_fixed", case_map_fixed, 0},
    {"file_over_memory", case_file_over_memory, 1},
    {"map_shared", case_map_shared, 0},
    {"prot_none", case_prot_none, 0},
    {"mprotect", case_mprotect, 0},
    {"guard", case_guard, 1},
    {"madvise", case_madvise, 0},
    {"hints_and_flags", case_hints_and_flags, 0},
    {"malloc_sizes", case_malloc_sizes, 0},
    {"memalign", case_memalign, 0},
    {"brk", case_brk, 0},
    {"threads", case_threads, 0},
    {"fork", case_fork, 0},
    {"exec", case_exec, 0},
    {"signal", case_signal, 0},
};

int main(int count, char** names) {
    const size_t cases = sizeof kCases / sizeof *kCases;
    if (count == 1) {
        for (size_t i = 0; i < cases; ++i) printf("%s%s\n", kCases[i].name, kCases[i].hardware_protection ? " 4kb" : "");
        return 0;
    }
    for (int n = 1; n < count; ++n) {
        size_t i = 0;
        while (i < cases && strcmp(names[n], kCases[i].name) != 0) ++i;
        REQUIRE(i < cases);
        kCases[i].run();
    }
    return 0;
}
