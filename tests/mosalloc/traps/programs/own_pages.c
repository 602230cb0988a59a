/* own_pages KIND: memory with 2MB pages that the program itself asks for. KIND: small (none), anonymous, unmapped (before the
 * end), file (memfd), unmapped_file, child (of fork; no page is needed), advised (madvise outside the pools), again (after it
 * allowed them again). */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BYTES = 8 << 20, RW = PROT_READ | PROT_WRITE };

int main(int count, char** words) {
    const char* kind = count > 1 ? words[1] : "small";
    if (strcmp(kind, "child") == 0) {
        const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE;
        if (fork() == 0) _exit(mmap(NULL, BYTES, RW, flags, -1, 0) == MAP_FAILED);
        int status = 1;
        return wait(&status) < 0 || status != 0;
    }
    const int file = strstr(kind, "file") != NULL;
    const int huge = strcmp(kind, "anonymous") == 0 || strcmp(kind, "unmapped") == 0;
    const int fd = file ? memfd_create("own", MFD_HUGETLB) : -1;
    if (file && (fd < 0 || ftruncate(fd, BYTES) != 0)) return 3;
    if (strcmp(kind, "again") == 0) prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
    void* hint = huge || file ? NULL : (void*)0x600000000000; /* an address keeps memory out of the pools */
    char* at = mmap(hint, BYTES, RW, file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS | (huge ? MAP_HUGETLB : 0), fd, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        return 3;
    }
    if (strcmp(kind, "advised") == 0 || strcmp(kind, "again") == 0) madvise(at, BYTES, MADV_HUGEPAGE);
    memset(at, 1, BYTES);
    if (strncmp(kind, "unmapped", 8) == 0) munmap(at, BYTES);
    return 0;
}
