/* all_locked: after mlockall(MCL_CURRENT) new memory is not locked; with MCL_FUTURE it is. Prints `clean`. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { BYTES = 1 << 20 };

static int is_locked(const char* at) {
    FILE* file = fopen("/proc/self/smaps", "r");
    char line[1024];
    int inside = 0, found = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) inside = start <= (unsigned long)at && (unsigned long)at < end;
        else if (inside && strncmp(line, "VmFlags:", 8) == 0) found = strstr(line, " lo ") != NULL;
    }
    if (file != NULL) fclose(file);
    return found;
}

static char* take(void) {
    char* at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at != MAP_FAILED) memset(at, 'x', BYTES);
    return at;
}

int main(void) {
    char *old = take(), *gone = take();
    if (old == MAP_FAILED || gone == MAP_FAILED || munmap(gone, BYTES) != 0) return 1;
    if (mlockall(MCL_CURRENT) != 0) return 77;
    if (!is_locked(old)) return 2;
    char *first = take(), *second = take();
    if (first == MAP_FAILED || second == MAP_FAILED) return 3;
    if (is_locked(first) || is_locked(second)) return puts("inherited"), 4;
    if (munmap(old, BYTES) != 0) return 5;
    char* again = take();
    if (again == MAP_FAILED || is_locked(again)) return puts("inherited"), 6;
    if (munlockall() != 0 || mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return 7;
    char* later = take();
    if (later == MAP_FAILED || !is_locked(later) || !is_locked(again)) return puts("not locked"), 8;
    puts("clean");
    return munlockall() == 0 && !is_locked(later) ? 0 : 9;
}
