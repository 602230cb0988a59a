#include "disk/flash.h"

#include <stdlib.h>
#include <string.h>

#include "base/host.h"

/// Transfers of a channel that have not ended: their starts, ascending. All have the same length.
struct channel {
    uint64_t *start;
    size_t first, count, room;       // [first, count)
};

struct flash {
    uint64_t channels, dies, page_bytes, read_ns, program_ns, transfer_ns, overhead_ns;
    struct channel *channel;
    uint64_t *die_free;              // when it has nothing left to do, channel after channel
};

enum { CHANNELS, DIES, PAGE, READ, PROGRAM, BUS, OVERHEAD, PARAMETERS };

static const struct disk_parameter parameters[PARAMETERS] = {
    [CHANNELS] = {"channels", "", "channels", 8, 1, 1024},
    [DIES] = {"dies", "", "dies of each channel", 4, 1, 1024},
    [PAGE] = {"page", "bytes", "a flash page", 4096, 512, 1 << 20},
    [READ] = {"tR", "ns", "a die reads a page in", 50000, 0, 1000000000},
    [PROGRAM] = {"tPROG", "ns", "a die writes a page in", 500000, 0, 1000000000},
    [BUS] = {"bus", "MB/s", "a channel carries (10^6 bytes)", 800, 1, 1000000},
    [OVERHEAD] = {"overhead", "ns", "host interface and firmware of each request", 5000, 0, 1000000000},
};

static bool start(void *state, const uint64_t *value, struct error *error) {
    struct flash *flash = state;
    (void)error;
    *flash = (struct flash){.channels = value[CHANNELS],
                            .dies = value[DIES],
                            .page_bytes = value[PAGE],
                            .read_ns = value[READ],
                            .program_ns = value[PROGRAM],
                            .overhead_ns = value[OVERHEAD]};
    flash->transfer_ns = (value[PAGE] * 1000 + value[BUS] - 1) / value[BUS];
    flash->channel = host_alloc(flash->channels * sizeof *flash->channel);
    flash->die_free = host_alloc(flash->channels * flash->dies * sizeof *flash->die_free);
    return true;
}

static void stop(void *state) {
    struct flash *flash = state;
    for (uint64_t i = 0; i < flash->channels; ++i) free(flash->channel[i].start);
    free(flash->channel);
    free(flash->die_free);
}

static uint64_t later(uint64_t a, uint64_t b) { return a > b ? a : b; }

/// First transfer that ends after `time`.
static size_t ending_after(const struct flash *flash, const struct channel *channel, uint64_t time) {
    size_t low = channel->first, high = channel->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (channel->start[middle] + flash->transfer_ns > time) high = middle;
        else low = middle + 1;
    }
    return low;
}

/// Carries a page that is ready at `ready`. Returns when it has arrived.
static uint64_t carry(const struct flash *flash, struct channel *channel, uint64_t now, uint64_t ready) {
    channel->first = ending_after(flash, channel, now);
    size_t at = ending_after(flash, channel, ready);
    while (at < channel->count && channel->start[at] < ready + flash->transfer_ns)
        ready = later(ready, channel->start[at++] + flash->transfer_ns);
    if (channel->first > 64 && channel->first > channel->count / 2) {        // the ended ones take no room
        memmove(channel->start, channel->start + channel->first, (channel->count - channel->first) * sizeof *channel->start);
        channel->count -= channel->first;
        at -= channel->first;
        channel->first = 0;
    }
    channel->start = host_grow(channel->start, &channel->room, channel->count + 1, sizeof *channel->start);
    memmove(channel->start + at + 1, channel->start + at, (channel->count - at) * sizeof *channel->start);
    channel->start[at] = ready;
    ++channel->count;
    return ready + flash->transfer_ns;
}

static uint64_t page_read(const struct flash *flash, uint64_t now, uint64_t *die, struct channel *channel) {
    return *die = carry(flash, channel, now, later(now, *die) + flash->read_ns);
}

static uint64_t page_write(const struct flash *flash, uint64_t now, uint64_t *die, struct channel *channel) {
    return *die = carry(flash, channel, now, later(now, *die)) + flash->program_ns;
}

typedef uint64_t one_page(const struct flash *flash, uint64_t now, uint64_t *die, struct channel *channel);

static uint64_t all_pages(struct flash *flash, uint64_t now, uint64_t byte, uint64_t bytes, one_page *each) {
    uint64_t done = now;
    for (uint64_t page = byte / flash->page_bytes; page <= (byte + bytes - 1) / flash->page_bytes; ++page) {
        const uint64_t channel = page % flash->channels, die = page / flash->channels % flash->dies;
        done = later(done, each(flash, now, &flash->die_free[channel * flash->dies + die], &flash->channel[channel]));
    }
    return done + flash->overhead_ns;
}

static uint64_t read_done(void *state, uint64_t now, uint64_t byte, uint64_t bytes) {
    return all_pages(state, now, byte, bytes, page_read);
}

static uint64_t write_done(void *state, uint64_t now, uint64_t byte, uint64_t bytes) {
    return all_pages(state, now, byte, bytes, page_write);
}

const struct disk_model disk_flash = {
    .name = "flash",
    .what = "channels with dies, one queue a die",
    .parameter = parameters,
    .parameters = PARAMETERS,
    .state_bytes = sizeof(struct flash),
    .start = start,
    .stop = stop,
    .read = read_done,
    .write = write_done,
};
