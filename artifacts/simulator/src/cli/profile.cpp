// profile.cpp - `tessera-sim profile`: where in the pools the 4KB layout misses the STLB, by 2MB region.
//
// Input of the sliding-window layouts (MICRO'20 section VI-B), in place of a PEBS miss trace.
#include <cstdio>
#include <map>

#include "base/error.h"
#include "cli/commands.h"
#include "engine/stream.h"
#include "mmu/mmu.h"

namespace tessera::sim {

int profile_command(int argc, char** argv) {
    const Options options("profile", argc, argv, {"trace", "platform", "out"}, {});
    const Platform platform = read_platform(options["platform"]);
    FileStream stream(options["trace"]);
    std::map<uint64_t, uint64_t> misses;  // 2MB region -> misses
    Tlbs tlbs(platform);
    trace::Frame frame;
    uint64_t previous = ~uint64_t{0};
    while (stream.next(frame))
        for (uint64_t address : frame.addresses) {
            // A page referenced twice in a row is the most recently used of its set: nothing would change.
            if (address >> 12 == previous) continue;
            previous = address >> 12;
            if (tlbs.translate(page_of(VirtAddr(address), PageSize::small_4kb)) == Translation::miss) ++misses[address >> 21];
        }
    std::FILE* out = std::fopen(options["out"].c_str(), "w");
    if (out == nullptr) throw Refusal("--out " + options["out"], "cannot be written", "name a file in an existing folder");
    std::fputs("pool,offset_bytes,stlb_misses\n", out);
    for (const trace::Pool& pool : stream.header().pools)
        for (const auto& [region, count] : misses) {
            const uint64_t address = region << 21;
            if (address < pool.base || address - pool.base >= pool.size_bytes) continue;
            std::fprintf(out, "%s,%llu,%llu\n", pool_name(pool.kind), static_cast<unsigned long long>(address - pool.base),
                         static_cast<unsigned long long>(count));
        }
    if (std::fclose(out) != 0) throw std::runtime_error("writing " + options["out"] + " failed");
    return 0;
}

}  // namespace tessera::sim
