/* What all programs of this folder use: checks, a watchdog, and memory that begins on a border of 2MB.
 * Each program is right on the bare kernel, and prints "right" as its last line. */
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, HUGE = 2 << 20, MB = 1 << 20 };

#define REQUIRE(condition)                                                                               \
    do {                                                                                                 \
        if (!(condition)) {                                                                              \
            dprintf(2, "%s:%d: does not hold: %s (errno %d)\n", __FILE__, __LINE__, #condition, errno);  \
            _exit(1);                                                                                    \
        }                                                                                                \
    } while (0)

/* The end by SIGALRM says that the program stood still. A caller needs a timeout too: signals may be blocked. */
static inline void watch(unsigned seconds) { alarm(seconds); }

static inline char* fresh(size_t bytes) {
    char* at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(at != MAP_FAILED);
    return at;
}

/* `pages` times 2MB, aligned; written, so that they exist. */
static inline char* huge_blocks(size_t pages) {
    char* at = fresh((pages + 1) * HUGE);
    at = (char*)(((uintptr_t)at + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
    memset(at, 'x', pages * HUGE);
    return at;
}

/* Contents of files: byte `at` of version `seed`; never the 'x' of huge_blocks(). */
static inline unsigned char content(size_t at, unsigned seed) {
    uint32_t mixed = (uint32_t)at + seed * 0x9e3779b9u; /* all bits of `at` count: no two parts are equal */
    mixed = (mixed ^ mixed >> 15) * 0x2c1b3c6du;
    const unsigned char value = (unsigned char)(mixed >> 19);
    return value == 'x' ? 'y' : value;
}

static inline void fill(char* to, size_t bytes, size_t from, unsigned seed) {
    for (size_t i = 0; i < bytes; ++i) to[i] = (char)content(from + i, seed);
}

static inline size_t wrong_bytes(const char* found, size_t bytes, size_t from, unsigned seed) {
    size_t wrong = 0;
    for (size_t i = 0; i < bytes; ++i) wrong += (unsigned char)found[i] != content(from + i, seed);
    return wrong;
}

/* Prints how many bytes are wrong, and ends the program if there are any. */
static inline void require_content(const char* what, const char* found, size_t bytes, size_t from, unsigned seed) {
    const size_t wrong = wrong_bytes(found, bytes, from, seed);
    if (wrong == 0) return;
    dprintf(2, "%s: %zu of %zu bytes are wrong\n", what, wrong, bytes);
    _exit(1);
}

static inline int make_file(const char* path, size_t bytes, unsigned seed, int flags) {
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
    REQUIRE(fd >= 0);
    char* text = malloc(MB);
    REQUIRE(text != NULL);
    for (size_t at = 0; at < bytes; at += MB) {
        fill(text, MB, at, seed);
        REQUIRE(write(fd, text, MB) == MB);
    }
    free(text);
    REQUIRE(fsync(fd) == 0 && close(fd) == 0);
    fd = open(path, O_RDWR | flags);
    if (fd < 0 && errno == EINVAL) { /* this file system has no O_DIRECT */
        puts("skip");
        exit(77);
    }
    REQUIRE(fd >= 0);
    return fd;
}

static inline unsigned next_random(unsigned* state) { return (*state = *state * 1664525u + 1013904223u) >> 8; }
