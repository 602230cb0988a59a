#include "disk/constant.h"

struct constant {
    uint64_t read_ns, write_ns;
};

static bool start(void *state, const uint64_t *value, struct error *error) {
    struct constant *constant = state;
    (void)error;
    *constant = (struct constant){value[0], value[1]};
    return true;
}

static uint64_t read_done(void *state, uint64_t now, uint64_t byte, uint64_t bytes) {
    (void)byte;
    (void)bytes;
    return now + ((const struct constant *)state)->read_ns;
}

static uint64_t write_done(void *state, uint64_t now, uint64_t byte, uint64_t bytes) {
    (void)byte;
    (void)bytes;
    return now + ((const struct constant *)state)->write_ns;
}

static const struct disk_parameter parameters[] = {
    {"read", "ns", "each read takes", 100000, 0, UINT64_C(1000000000000)},
    {"write", "ns", "each write takes", 100000, 0, UINT64_C(1000000000000)},
};

const struct disk_model disk_constant = {
    .name = "constant",
    .what = "the same time for each request, without queues",
    .parameter = parameters,
    .parameters = 2,
    .state_bytes = sizeof(struct constant),
    .start = start,
    .read = read_done,
    .write = write_done,
};
