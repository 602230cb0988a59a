// loads.cpp - loads by the level that serves them: dependent ones, independent ones, streams, strides, one line a page.
#include "clockmarks/mark.h"
#include "pointer_chase.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kKB = 1 << 10, kMB = 1 << 20;

template <uint64_t stride_bytes>
void link_all(const Arena& arena) {
    const auto tour = tour_of(arena.bytes / stride_bytes, Order::random, 1);
    link(arena.base, tour, stride_bytes, 1);
}

/// A whole number of tours, so that each round ends where it began.
template <uint64_t steps>
uint64_t chase(const Arena& arena) {
    return uint64_t(static_cast<char*>(follow(arena.base, steps)) - arena.base);
}

/// Sums words at random places, which are computed and not loaded.
template <uint64_t count>
TESSERA_KERNEL uint64_t random_sum(const Arena& arena) {
    uint64_t state = 1, total = 0;
    const uint64_t mask = arena.word_count() - 1;
    for (uint64_t k = 0; k < count; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        total += arena.words()[state >> 33 & mask];
    }
    return total;
}

template <uint64_t count>
uint64_t random_sum_again(const Arena& arena) {
    uint64_t state = 1, total = 0;
    for (uint64_t k = 0; k < count; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        total += (state >> 33) % arena.word_count();
    }
    return total;
}

void number_words(const Arena& arena) {
    for (uint64_t i = 0; i < arena.word_count(); ++i) arena.words()[i] = i;
}

/// One word of every `stride_bytes`.
template <uint64_t stride_bytes, uint64_t passes>
TESSERA_KERNEL uint64_t strided_sum(const Arena& arena) {
    uint64_t total = 0;
    for (uint64_t pass = 0; pass < passes; ++pass)
        for (uint64_t i = 0; i < arena.word_count(); i += stride_bytes / 8) total += arena.words()[i];
    return total;
}

template <uint64_t stride_bytes, uint64_t passes>
uint64_t strided_sum_again(const Arena& arena) {
    const uint64_t step = stride_bytes / 8, count = (arena.word_count() + step - 1) / step;
    return passes * step * (count * (count - 1) / 2);
}

/// Binary searches for random numbers in the numbers 0, 2, 4, ...
void even_words(const Arena& arena) {
    for (uint64_t i = 0; i < arena.word_count(); ++i) arena.words()[i] = 2 * i;
}
constexpr uint64_t kSearches = 4096;
TESSERA_KERNEL uint64_t searches(const Arena& arena) {
    uint64_t state = 7, total = 0;
    for (uint64_t k = 0; k < kSearches; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const uint64_t wanted = (state >> 33) % (2 * arena.word_count());
        uint64_t low = 0, high = arena.word_count();
        while (low + 1 < high) {
            const uint64_t middle = (low + high) / 2;
            if (arena.words()[middle] <= wanted) low = middle;
            else high = middle;
        }
        total += low;
    }
    return total;
}
uint64_t searches_again(const Arena& arena) {
    uint64_t state = 7, total = 0;
    for (uint64_t k = 0; k < kSearches; ++k) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        total += (state >> 33) % (2 * arena.word_count()) / 2;
    }
    return total;
}

template <uint64_t bytes, uint64_t steps>
Mark chain(const char* name) {
    static_assert(steps % (bytes / 64) == 0);
    return {name, "load", steps, bytes, link_all<64>, chase<steps>, constant<0>};
}
template <uint64_t bytes, uint64_t count>
Mark random_loads(const char* name) {
    return {name, "load", count, bytes, number_words, random_sum<count>, random_sum_again<count>};
}
template <uint64_t pages, uint64_t steps>
Mark walks(const char* name) {
    static_assert(steps % pages == 0);
    return {name, "load", steps, pages * 4096, link_all<4096>, chase<steps>, constant<0>};
}
template <uint64_t bytes, uint64_t stride_bytes, uint64_t passes>
Mark strided(const char* name) {
    return {name,
            "load",
            passes * (bytes / stride_bytes),
            bytes,
            number_words,
            strided_sum<stride_bytes, passes>,
            strided_sum_again<stride_bytes, passes>};
}

}  // namespace

std::vector<Mark> load_marks() {
    return {
        chain<16 * kKB, 131072>("chain-l1"),         chain<256 * kKB, 65536>("chain-l2"),
        chain<4 * kMB, 65536>("chain-l3"),           chain<64 * kMB, 1048576>("chain-memory"),
        random_loads<16 * kKB, 200000>("random-l1"), random_loads<512 * kKB, 200000>("random-l2"),
        random_loads<4 * kMB, 150000>("random-l3"),  random_loads<128 * kMB, 100000>("random-memory"),
        walks<1024, 65536>("walk-1024-pages"),       walks<8192, 65536>("walk-8192-pages"),
        walks<32768, 65536>("walk-32768-pages"),     strided<512 * kKB, 64, 8>("stride-64-l2"),
        strided<32 * kMB, 64, 1>("stream-read"),     strided<64 * kMB, 256, 1>("stride-256"),
        strided<128 * kMB, 4160, 2>("stride-4160"),  {"binary-search", "search", kSearches, 64 * kKB, even_words, searches, searches_again},
    };
}

}  // namespace tessera::workloads
