// disk.h - how long a disk takes: a registry of models. Times are nanoseconds of simulated time.
//
// Contract: requests come in the order of their times. A model keeps the state of its queues; equal requests give equal times. It knows
// neither files nor memory: `byte` is a place on the disk, `bytes` > 0. No decision of memory depends on a time.
// A model is a file and a line in disk.c. Parameters come as `name:key=value,key=value`; a key that is left out has its default, an unknown one
// is refused.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct disk;

struct disk_parameter {
    const char *key, *unit, *what;
    uint64_t value, least, most;  // value: the default
};

struct disk_model {
    const char *name, *what;
    const struct disk_parameter *parameter;
    size_t parameters;
    size_t state_bytes;  // zeroed before `start`
    /// `value`: of the parameters, in their order. False if they do not fit together: the error is filled.
    bool (*start)(void *state, const uint64_t *value, struct error *error);
    void (*stop)(void *state);  // NULL: nothing to free
    /// When a read that comes at `now` is done.
    uint64_t (*read)(void *state, uint64_t now, uint64_t byte, uint64_t bytes);
    uint64_t (*write)(void *state, uint64_t now, uint64_t byte, uint64_t bytes);
};

enum { DISK_MOST_PARAMETERS = 8 };

struct disk_counts {
    uint64_t reads, writes, read_bytes, written_bytes;
    uint64_t read_ns, write_ns;  // sum over requests, from their time to their end
};

struct disk {
    const struct disk_model *model;
    void *state;
    struct disk_counts counts;
};

/// False: no such model, key or value; the error names those that exist.
bool disk_create(struct disk *disk, const char *text, struct error *error);
void disk_destroy(struct disk *disk);

uint64_t disk_read(struct disk *disk, uint64_t now, uint64_t byte, uint64_t bytes);
uint64_t disk_write(struct disk *disk, uint64_t now, uint64_t byte, uint64_t bytes);

/// The models, NULL behind the last one: for --help and tests.
extern const struct disk_model *const disk_models[];
