/* raw_calls BYTES: takes memory by a system call of its own, as Go's runtime does, and uses all of it. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char** words) {
    const size_t bytes = count > 1 ? strtoull(words[1], NULL, 10) : 0;
    const long at = syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);
    if (at == -1) return 1;
    memset((void*)at, 'x', bytes);
    return 0;
}
