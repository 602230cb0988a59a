// benchmark.cpp - engines against floors, on the same streams in the same run: CPU time, one core.
//
// Prints a table; exit status 1 when H or M of floor and engine differ. C and R are shown side by side but not compared:
// floors ask a cache level only after a miss above it (cheaper) and have one walk-cache. A ratio below 1 means that
// the engine is slower than the floor.
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "engine/lanes/isa.h"
#include "os/address_space.h"
#include "floor.h"
#include "streams.h"
#include "support/platforms.h"

namespace tessera::sim::benchmark {
namespace {

double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

struct Task {
    const char* name;
    const char* unit;
    FloorCounts (*floor)(const FloorInput&);
    const char* engine;
    Sampling sampling;
    unsigned work_per_access;
};

/// The timed task counts instructions, of which streams.h has six an access.
const Task tasks[] = {
    {"H,M", "M accesses x layouts/s", floor_hm, "partial", Sampling{false, 1, 0, 1}, 1},
    {"H,M,C", "M accesses x layouts/s", floor_hmc, "partial", Sampling{}, 1},
    {"R", "M instructions x layouts/s", floor_r, "timing", Sampling{}, 6},
};

/// Prints one line; false when H or M differ.
bool measure(const Task& task, const std::string& stream_name, MemoryStream& stream, const std::vector<Layout>& layouts) {
    FloorInput input;
    for (const trace::Frame& frame : stream.frames())
        for (uint64_t address : frame.addresses) input.offsets.push_back(address - testing::heap_base);
    const double work = double(input.offsets.size()) * double(layouts.size()) * task.work_per_access / 1e6;

    std::vector<FloorCounts> floor;
    const double floor_begin = cpu_seconds();
    for (const Layout& layout : layouts) {
        const AddressSpace space(stream.header().pools, layout);
        input.region_is_2mb.clear();
        for (uint64_t at = 0; at < pool_bytes; at += 2 * mib)
            input.region_is_2mb.push_back(space.page_size(VirtAddr(testing::heap_base + at)) == PageSize::large_2mb);
        floor.push_back(task.floor(input));
    }
    const double engine_begin = cpu_seconds();
    const auto counts = testing::simulate(task.engine, testing::haswell(), stream, layouts, task.sampling);
    const double end = cpu_seconds();

    const double floor_speed = work / (engine_begin - floor_begin), engine_speed = work / (end - engine_begin);
    bool same = true;
    double c_ratio = 0, r_ratio = 0;
    for (size_t i = 0; i < layouts.size(); ++i) {
        same &= floor[i].hits == counts[i].stlb_hits && floor[i].misses == counts[i].stlb_misses;
        if (i != 0) continue;
        c_ratio = floor[i].walk_cycles ? double(counts[i].units[0].walk_cycles) / double(floor[i].walk_cycles) : 0;
        r_ratio = floor[i].runtime_cycles ? double(counts[i].units[0].runtime_cycles) / double(floor[i].runtime_cycles) : 0;
    }
    std::printf("%-6s %-9s %8.0f %8.0f %7.2f  %-27s %s  C %.2f R %.2f\n", task.name, stream_name.c_str(), floor_speed, engine_speed,
                engine_speed / floor_speed, task.unit, same ? "H,M equal" : "H,M DIFFER", c_ratio, r_ratio);
    std::fflush(stdout);
    return same;
}

}  // namespace
}  // namespace tessera::sim::benchmark

int main(int argc, char** argv) {
    using namespace tessera::sim;
    const size_t accesses = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 4'000'000;
    if (accesses == 0) return std::fputs("benchmark: accesses: not a positive number\n  what to do: benchmark [accesses a stream]\n", stderr), 2;
    std::printf("16 layouts, %zu accesses a stream, haswell, lanes: %s; engine/floor in C and R of the 4KB layout at the end\n", accesses, lanes::chosen_isa());
    std::printf("%-6s %-9s %8s %8s %7s\n", "task", "stream", "floor", "engine", "ratio");
    bool same = true;
    const auto layouts = benchmark::make_layouts();
    for (const char* name : {"gups", "zipf", "resident"}) {
        MemoryStream stream = benchmark::make_stream(name, accesses);
        for (const auto& task : benchmark::tasks) same &= benchmark::measure(task, name, stream, layouts);
    }
    return same ? 0 : 1;
}
