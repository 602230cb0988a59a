// machine.h - files, and the memory that the options describe.
#pragma once

#include "cli/options.h"

/// The whole file, to be freed; NULL: error.
char *read_file(const char *path, size_t *bytes, struct error *error);

bool machine_create(struct phys *p, const struct options *options, struct error *error);

/// Writes PATH by way of PATH.tmp, so that PATH is either old or complete. A failure removes PATH.tmp.
bool machine_write(const struct phys *p, const char *path, struct error *error);

/// Prints zones, marks, free blocks of each order and both indices.
void machine_show(const struct phys *p, FILE *out);
