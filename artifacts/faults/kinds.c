#include "kinds.h"

#include <stdio.h>
#include <string.h>

#include "error.h"

#define PAGE_4KB ((size_t)4096)
#define PAGE_2MB ((size_t)2 << 20)

static const struct kind KINDS[] = {
    // A store to a new anonymous page: a frame is taken, cleared and mapped.
    {"write-4kb", PAGE_4KB, .store = true},
    // A load from a new anonymous page: the shared zero page is mapped.
    {"read-zero", PAGE_4KB, .store = false},
    // A load from a mapped file whose pages are in the page cache: a fault also maps cached pages around it.
    {"read-file", PAGE_4KB, .file = true},
    // A store to new memory that may have 2MB pages: 512 frames are taken, cleared and mapped at once.
    {"write-2mb", PAGE_2MB, .store = true, .huge = true},
    // A store to a page that is mapped: no fault. The floor of the method: clock, TLB miss, cache miss.
    {"touch-again", PAGE_4KB, .store = true, .populate = true},
};

const struct kind *kind_named(const char *name) {
    char list[200] = "";
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++) {
        if (strcmp(KINDS[i].name, name) == 0) return &KINDS[i];
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", KINDS[i].name);
    }
    stop(EXIT_WRONG_REQUEST, "--kind", list, "there is no kind '%s'; use one of the following", name);
}
