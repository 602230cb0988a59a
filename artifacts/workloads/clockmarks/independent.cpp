// independent.cpp - loads at random places that depend on nothing: what bounds them is ports, misses in flight and walks.
//
// A place is a mix of its index, so there is no chain between places. Indices go on from round to round: what is larger than the
// caches is visited at fresh places.
#include "clockmarks/mark.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kKB = 1 << 10, kMB = 1 << 20;

void ones(const Arena& arena) {
    for (uint64_t i = 0; i < arena.word_count(); ++i) arena.words()[i] = 1;
}

template <uint64_t bytes, uint64_t count>
TESSERA_KERNEL uint64_t sum(const Arena& arena) {
    static_assert((bytes & (bytes - 1)) == 0);
    static uint64_t begin = 0;
    constexpr uint64_t mask = bytes / sizeof(uint64_t) - 1;
    uint64_t total = 0;
    for (uint64_t index = begin; index < begin + count; ++index) {
        uint64_t place = index * 0x9e3779b97f4a7c15u;
        place = (place ^ place >> 32) * 0xd6e8feb86659fd93u;
        total += arena.words()[place >> 33 & mask];
    }
    begin += count;
    return total;
}

template <uint64_t bytes, uint64_t count>
Mark loads(const char* name) {
    return {name, "load", count, bytes, ones, sum<bytes, count>, constant<count>};
}

}  // namespace

std::vector<Mark> independent_marks() {
    return {
        loads<16 * kKB, 262144>("independent-l1"),
        loads<512 * kKB, 262144>("independent-l2"),
        loads<4 * kMB, 131072>("independent-l3"),
        loads<128 * kMB, 100000>("independent-memory"),
    };
}

}  // namespace tessera::workloads
