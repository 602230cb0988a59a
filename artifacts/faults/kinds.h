// kinds.h - kinds of faults: what is mapped, and what one access to a new page does.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct kind {
    const char *name;
    size_t step;   // bytes from one touched address to the next
    bool store;    // touch by a store; else by a load
    bool file;     // map the file; else anonymous memory
    bool huge;     // ask for 2MB pages; else forbid them
    bool populate; // map all pages before the clock starts: no touch faults
};

/// The kind of that name; ends the program with the list of names if there is none.
const struct kind *kind_named(const char *name);
