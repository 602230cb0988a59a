// masked_cache_benchmark.cpp - the data caches of 54 layouts alone: one masked hierarchy against one scalar hierarchy a layout.
//
// Both replay the same references: each layout's walker loads and the program's lines, found beforehand (untimed) by the floor's TLBs
// and PDE cache. Prints speed in accesses x layouts per second and the lists' lengths; exit status 1 when any layout's misses differ.
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>

#include "floor.h"
#include "streams.h"
#include "support/masked_probe.h"

namespace tessera::sim::benchmark {
namespace {

constexpr uint64_t region_bytes = uint64_t{2} << 20;
constexpr uint64_t regions = pool_bytes / region_bytes;
constexpr uint64_t table_lines = uint64_t{1} << 30;  // as in floor.h, so that floors index the same sets

double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

/// The 54 mosaics' shape: nine that grow, nine random, four sizes of window slid nine times. One byte a 2MB region.
std::vector<std::vector<uint8_t>> make_mosaics() {
    std::vector<std::vector<uint8_t>> mosaics;
    const auto window = [&](uint64_t begin, uint64_t length) {
        std::vector<uint8_t> is_2mb(regions);
        for (uint64_t r = begin; r < begin + length; ++r) is_2mb[r] = 1;
        mosaics.push_back(is_2mb);
    };
    for (uint64_t i = 0; i < 9; ++i) window(0, regions * i / 8);
    std::mt19937_64 random(54);
    for (uint64_t i = 0; i < 9; ++i) {
        const uint64_t a = random() % regions, b = random() % regions;
        window(std::min(a, b), std::max(a, b) - std::min(a, b));
    }
    for (uint64_t fifth = 1; fifth <= 4; ++fifth)
        for (uint64_t i = 0; i < 9; ++i) {
            const uint64_t length = regions * fifth / 5, begin = std::min(length * i / 8, regions - length);
            window(begin, length);
        }
    return mosaics;
}

struct Work {
    std::vector<testing::ProbeReference> references;
    size_t accesses = 0;
};

/// References of all layouts, merged: at each access the PDE line, the PTE line, the program's own.
Work make_work(const std::string& name, size_t accesses, const std::vector<std::vector<uint8_t>>& mosaics) {
    Work work;
    MemoryStream stream = make_stream(name, accesses);
    struct Lane {
        FloorTlbs tlbs;
        FloorLru<8, 4> pde;
    };
    std::vector<Lane> lanes(mosaics.size());
    const uint64_t all = mosaics.size() == 64 ? ~uint64_t{0} : (uint64_t{1} << mosaics.size()) - 1;
    uint64_t last_line = ~uint64_t{0};
    for (const trace::Frame& frame : stream.frames())
        for (const uint64_t address : frame.addresses) {
            ++work.accesses;
            const uint64_t offset = address - testing::heap_base, region = offset >> 21;
            uint64_t pde = 0, pte = 0;
            for (size_t l = 0; l < lanes.size(); ++l) {
                const bool is_2mb = mosaics[l][region];
                if (lanes[l].tlbs.translate(offset, is_2mb) != FloorTranslation::miss) continue;
                if (!is_2mb) pte |= uint64_t{1} << l;
                if (is_2mb || !lanes[l].pde.reference(lanes[l].pde.set_of(uint32_t(region)), uint32_t(region) + 1)) pde |= uint64_t{1} << l;
            }
            using enum testing::ProbeKind;
            if (pde != 0) work.references.push_back({table_lines + (region >> 3), pde, walker});
            if (pte != 0) work.references.push_back({table_lines + 4096 + (offset >> 15), pte, walker});
            if (offset >> 6 != last_line) work.references.push_back({offset >> 6, all, program});
            last_line = offset >> 6;
        }
    return work;
}

struct Misses {
    uint64_t missed[3] = {};
    bool operator==(const Misses&) const = default;
};

/// Seconds, and what each layout missed.
double run_floor(const Work& work, std::vector<Misses>& misses) {
    const double begin = cpu_seconds();
    for (size_t l = 0; l < misses.size(); ++l) {
        const auto caches = std::make_unique<FloorCaches>();
        for (const testing::ProbeReference& r : work.references) {
            if ((r.lanes >> l & 1) == 0) continue;
            const uint32_t cycles = caches->load(uint32_t(r.line));
            misses[l].missed[0] += cycles > 4;
            misses[l].missed[1] += cycles > 12;
            misses[l].missed[2] += cycles > 36;
        }
    }
    return cpu_seconds() - begin;
}

double run_masked(const Work& work, testing::MaskedProbe& probe, std::vector<Misses>& misses) {
    constexpr size_t chunk = 2048;
    std::vector<testing::ProbeAnswer> answers(chunk);
    double seconds = 0;
    for (size_t at = 0; at < work.references.size(); at += chunk) {
        const size_t count = std::min(chunk, work.references.size() - at);
        const double begin = cpu_seconds();
        probe.replay(work.references.data() + at, count, answers.data());
        seconds += cpu_seconds() - begin;
        for (size_t i = 0; i < count; ++i)
            for (size_t l = 0; l < misses.size(); ++l) {
                misses[l].missed[0] += answers[i].l1d_missed >> l & 1;
                misses[l].missed[1] += answers[i].l2_missed >> l & 1;
                misses[l].missed[2] += answers[i].l3_missed >> l & 1;
            }
    }
    return seconds;
}

}  // namespace
}  // namespace tessera::sim::benchmark

int main(int argc, char** argv) {
    using namespace tessera::sim;
    const size_t accesses = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1'000'000;
    if (accesses == 0)
        return std::fputs(
                   "masked_cache_benchmark: accesses: not a positive number\n"
                   "  what to do: run masked_cache_benchmark [ACCESSES]\n",
                   stderr),
               2;
    const auto mosaics = benchmark::make_mosaics();
    const testing::ProbeConfig haswell{{64, 8}, {512, 8}, {24576, 20}};
    std::printf("%zu layouts, %zu accesses per stream; 32KB, 256KB and 30MB caches; M accesses x layouts/s\n", mosaics.size(), accesses);
    std::printf("%-9s %-9s %8s %7s %14s %15s  %s\n", "stream", "isa", "speed", "/floor", "ns/reference", "references",
                "entries per set (ways 8, 8, 20): mean/longest");
    bool same = true;
    for (const char* stream : {"gups", "zipf", "resident"}) {
        const auto work = benchmark::make_work(stream, accesses, mosaics);
        const double units = double(accesses) * double(mosaics.size()) / 1e6;
        std::vector<benchmark::Misses> floor(mosaics.size());
        const double floor_seconds = benchmark::run_floor(work, floor);
        std::printf("%-9s %-9s %8.0f %7.2f\n", stream, "floor", units / floor_seconds, 1.0);
        for (const std::string& isa : testing::probe_isas) {
            const auto probe = testing::make_masked_probe(isa, haswell);
            if (probe == nullptr) continue;
            std::vector<benchmark::Misses> masked(mosaics.size());
            const double seconds = benchmark::run_masked(work, *probe, masked);
            const bool equal = masked == floor;
            same &= equal;
            std::printf("%-9s %-9s %8.0f %7.2f %14.1f %15zu  %.1f/%u %.1f/%u %.1f/%u %s\n", stream, isa.c_str(), units / seconds,
                        floor_seconds / seconds, seconds / double(work.references.size()) * 1e9, work.references.size(),
                        probe->mean_list(0), probe->longest_list(0), probe->mean_list(1), probe->longest_list(1), probe->mean_list(2),
                        probe->longest_list(2), equal ? "equal" : "DIFFER");
            std::fflush(stdout);
        }
    }
    return same ? 0 : 1;
}
