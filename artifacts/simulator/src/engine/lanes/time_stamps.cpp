#include "engine/lanes/time_stamps.h"

#include <algorithm>
#include <vector>

namespace tessera::sim::lanes {
namespace {

template <class Action>
void for_each_stamp(const TimeSpan* spans, size_t count, Action action) {
    for (const TimeSpan* span = spans; span != spans + count; ++span)
        for (size_t r = 0; r < span->runs; ++r)
            for (size_t i = 0; i < span->run; ++i) action(span->first[r * span->stride + i]);
}

}  // namespace

void renumber_stamps(Machine& machine) {
    TimeSpan spans[16];
    const size_t count = machine.time_spans(spans, 16);
    std::vector<uint32_t> used;
    for_each_stamp(spans, count, [&](uint32_t& t) { if (t != 0) used.push_back(t); });
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    for_each_stamp(spans, count, [&](uint32_t& t) {
        if (t != 0) t = uint32_t(std::lower_bound(used.begin(), used.end(), t) - used.begin()) + 1;
    });
    machine.set_now(uint32_t(used.size()) + 1);
}

void ensure_stamps(Machine& machine, size_t accesses) {
    if (uint64_t{machine.stamps_left()} < uint64_t{accesses} * stamps_per_access + 16) renumber_stamps(machine);
}

}  // namespace tessera::sim::lanes
