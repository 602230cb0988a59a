// SPDX-License-Identifier: MIT
#include "area.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

void fail(const char *what) {
    perror(what);
    exit(1);
}

static uintptr_t rounded(uintptr_t value) { return (value + HUGE - 1) & ~(uintptr_t)(HUGE - 1); }

/* The borders stay reserved, so that no other mapping shares a page table with an area. */
static char *place(size_t bytes, int access, int flags, int file) {
    char *space = mmap(NULL, rounded(bytes) + HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) fail("address space");
    char *start = (char *)rounded((uintptr_t)space);
    if (mmap(start, bytes, access, flags | MAP_FIXED, file, 0) != start) fail("mmap");
    return start;
}

char *area_anonymous(size_t bytes, int huge) {
    char *start = place(bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (madvise(start, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE)) fail("madvise");
    return start;
}

char *area_file(int file, size_t bytes, int shared) {
    return place(bytes, shared ? PROT_READ : PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, file);
}
