// SPDX-License-Identifier: MIT
// area.h - memory to touch, at a multiple of 2MB.
#pragma once

#include <stddef.h>

enum { PAGE = 4096, HUGE = 2 << 20 };

/// New anonymous memory, with 4KB pages only or with 2MB pages wherever possible.
char *area_anonymous(size_t bytes, int huge);

/// A mapping of a file; `shared` for MAP_SHARED, readable; else private and writable.
char *area_file(int file, size_t bytes, int shared);

/// Prints a message and ends the program.
_Noreturn void fail(const char *what);
