// source.h - the file whose pages are read: without a name in its folder, and whole in the page cache.
#pragma once

#include <stddef.h>

/// Descriptor of a new file of `bytes` in `folder`, written and synced. Ends the program if that fails.
int source_create(const char *folder, size_t bytes);

/// Ends the program if a page of this mapping of the file is not in the page cache.
void source_require_cached(void *mapping, size_t bytes);
