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
    {"zeroed_again", case_zeroed_again},
    {"partial_munmap", case_partial_munmap},
    {"mremap", case_mremap},
    {"mremap_fixed", case_mremap_fixed},
    {"map_fixed", case_map_fixed},
    {"file_over_memory", case_file_over_memory},
    {"map_shared", case_map_shared},
    {"prot_none", case_prot_none},
    {"mprotect", case_mprotect},
    {"guard", case_guard},
    {"madvise", case_madvise},
    {"hints_and_flags", case_hints_and_flags},
    {"malloc_sizes", case_malloc_sizes},
    {"memalign", case_memalign},
    {"brk", case_brk},
    {"threads", case_threads},
    {"fork", case_fork},
    {"exec", case_exec},
    {"signal", case_signal},
    {"holes", case_holes},
    {"dontunmap", case_dontunmap},
    {"files", case_files},
    {"spawn", case_spawn},
    {"raw_fork", case_raw_fork},
    {"wipe_on_fork", case_wipe_on_fork},
    {"locked", case_locked},
    {"dlopen", case_dlopen},
    {"realloc_sizes", case_realloc_sizes},
    {"reservation", case_reservation},
};

int main(int count, char** names) {
    const size_t cases = sizeof kCases / sizeof *kCases;
    if (count == 1) {
        for (size_t i = 0; i < cases; ++i) puts(kCases[i].name);
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
