/* marks MARK BYTES [grow]: marks a block of BYTES, checks that the kernel keeps the mark, gives the block back, and takes memory
 * at the same place. Prints `clean` if the new memory has no mark, else `inherited`. Ends with 77 if this kernel or this
 * processor has no such mark. The marks: see the table at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SKIP = 77, PAGE = 4096 };

static char* take(size_t bytes, void* hint) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (hint == NULL ? 0 : MAP_FIXED_NOREPLACE);
    char* at = mmap(hint, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (at == MAP_FAILED) perror("mmap"), exit(3);
    return at;
}

/* Whether a line of the block's entry in /proc/self/smaps that starts with `key` contains `word`. */
static int shows(const char* at, const char* key, const char* word) {
    FILE* file = fopen("/proc/self/smaps", "r");
    char line[1024];
    int inside = 0, found = 0;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) {
            inside = start <= (unsigned long)at && (unsigned long)at < end;
            if (inside && *key == 0 && strstr(line, word) != NULL) found = 1;
        } else if (inside && *key != 0 && strncmp(line, key, strlen(key)) == 0 && strstr(line + strlen(key), word) != NULL) {
            found = 1;
        }
    }
    if (file == NULL) exit(3);
    fclose(file);
    return found;
}

/* Each function sets a mark, and each other one tells whether it is there. A result below 0 is the system's error. */
static int set_policy(char* at, size_t bytes) {
    unsigned long node = 1;
    return (int)syscall(SYS_mbind, at, bytes, MPOL_BIND, &node, 64L, 0L);
}
static int set_home_node(char* at, size_t bytes) {
    if (set_policy(at, bytes) != 0) return -1;
    return (int)syscall(450, at, bytes, 0L, 0L); /* set_mempolicy_home_node */
}
static int has_policy(char* at) {
    int mode = -1;
    if (syscall(SYS_get_mempolicy, &mode, NULL, 0L, at, (long)MPOL_F_ADDR) != 0) exit(3);
    return mode != MPOL_DEFAULT;
}
static int set_name(char* at, size_t bytes) { return prctl(0x53564d41, 0, at, bytes, "marked"); }
static int has_name(char* at) { return shows(at, "", "[anon:marked]"); }
static int set_lock(char* at, size_t bytes) { return mlock(at, bytes); }
static int set_lock2(char* at, size_t bytes) { return (int)syscall(SYS_mlock2, at, bytes, 1L); }
static int has_lock(char* at) { return shows(at, "VmFlags:", " lo "); }
static int set_undumped(char* at, size_t bytes) { return madvise(at, bytes, MADV_DONTDUMP); }
static int has_undumped(char* at) { return shows(at, "VmFlags:", " dd "); }
static int set_unforked(char* at, size_t bytes) { return madvise(at, bytes, MADV_DONTFORK); }
static int has_unforked(char* at) { return shows(at, "VmFlags:", " dc "); }
static int set_wiped(char* at, size_t bytes) { return (int)syscall(SYS_madvise, at, bytes, (long)MADV_WIPEONFORK); }
static int has_wiped(char* at) { return shows(at, "VmFlags:", " wf "); }
static int set_sequential(char* at, size_t bytes) { return madvise(at, bytes, MADV_SEQUENTIAL); }
static int has_sequential(char* at) { return shows(at, "VmFlags:", " sr "); }
static int set_mergeable(char* at, size_t bytes) { return madvise(at, bytes, MADV_MERGEABLE); }
static int has_mergeable(char* at) { return shows(at, "VmFlags:", " mg "); }
static int set_key(char* at, size_t bytes) {
    const int key = pkey_alloc(0, 0);
    return key < 0 ? -1 : pkey_mprotect(at, bytes, PROT_READ | PROT_WRITE, key);
}
static int has_key(char* at) { return shows(at, "ProtectionKey:", "") && !shows(at, "ProtectionKey:", " 0\n"); }

static const struct {
    const char* name;
    int (*set)(char*, size_t);
    int (*has)(char*);
} kMarks[] = {
    {"policy", set_policy, has_policy},       {"home_node", set_home_node, has_policy},
    {"name", set_name, has_name},             {"lock", set_lock, has_lock},
    {"lock_on_fault", set_lock2, has_lock},   {"undumped", set_undumped, has_undumped},
    {"unforked", set_unforked, has_unforked}, {"wiped", set_wiped, has_wiped},
    {"sequential", set_sequential, has_sequential}, {"mergeable", set_mergeable, has_mergeable},
    {"key", set_key, has_key},
};

int main(int count, char** words) {
    size_t bytes = count > 2 ? strtoull(words[2], NULL, 0) : 0;
    for (size_t i = 0; count > 2 && i < sizeof kMarks / sizeof kMarks[0]; ++i) {
        if (strcmp(words[1], kMarks[i].name) != 0) continue;
        char* at = take(bytes, NULL);
        memset(at, 'x', bytes);
        if (kMarks[i].has(at)) return 4;
        if (kMarks[i].set(at, bytes) != 0) {
            printf("%s\n", strerrorname_np(errno));
            return errno == EINVAL || errno == ENOSYS || errno == ENOSPC || errno == EPERM ? SKIP : 5;
        }
        if (!kMarks[i].has(at) || !kMarks[i].has(at + bytes - PAGE)) return 6;
        if (count > 3) { /* what mremap adds has the mark, too */
            at = mremap(at, bytes, 2 * bytes, MREMAP_MAYMOVE);
            if (at == MAP_FAILED || at[0] != 'x' || at[bytes] != 0) return 9;
            bytes *= 2;
            if (!kMarks[i].has(at) || !kMarks[i].has(at + bytes - PAGE)) return puts("lost"), 10;
        }
        if (munmap(at, bytes) != 0 || take(bytes, at) != at) return 7;
        const int inherited = kMarks[i].has(at) || kMarks[i].has(at + bytes - PAGE);
        for (size_t b = 0; b < bytes; ++b)
            if (at[b] != 0) return 8;
        puts(inherited ? "inherited" : "clean");
        return inherited;
    }
    return 2;
}
