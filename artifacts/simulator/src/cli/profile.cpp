// profile.cpp - `tessera-sim profile`: where in the pools the 4KB layout misses the STLB, by 2MB region.
//
// Input of the sliding-window layouts (MICRO'20 section VI-B), in place of a PEBS miss trace.
#include <cstdio>
#include <map>

#include "base/error.h"
#include "cli/commands.h"
#include "engine/stream.h"
#include "mmu/components.h"
#include "mmu/design.h"
#include "mmu/instruction_side.h"
#include "os/address_limit.h"

namespace tessera::sim {

int profile_command(int argc, char** argv) {
    const Options options("profile", argc, argv, {"trace", "platform", "out"}, {});
    const Platform platform = read_platform(options["platform"]);
    FileStream stream(options["trace"]);
    std::map<uint64_t, uint64_t> misses;  // 2MB region -> misses
    const Layout all_4kb{"growing-0", {}};
    const AddressSpace space(stream.header().pools, all_4kb);
    check_components(platform);
    const auto design = designs().make(platform.mmu_design, DesignContext{platform, space});
    InstructionSide instructions(platform);
    std::vector<uint64_t> block_bytes;
    for (const trace::StaticBlock& block : stream.blocks()) block_bytes.push_back(InstructionSide::bytes_of_block(block));
    const auto touch = [&](VirtAddr address) {
        check_address(address.value);
        design->touch(address);
    };
    trace::Frame frame;
    while (stream.next(frame)) {
        size_t at = 0;
        for (size_t e = 0; e < frame.block_ids.size(); ++e) {
            const uint32_t block = frame.block_ids[e];
            instructions.execute(stream.blocks()[block].pc, block_bytes[block], [&](VirtAddr page) {
                touch(page);
                design->fetch_tlb_only(page);
            });
            for (const size_t end = at + frame.access_counts[e]; at < end; ++at) {
                const VirtAddr address(frame.addresses[at]);
                touch(address);
                if (design->access_tlb_only(address) == Translation::miss) ++misses[address.value >> 21];
            }
        }
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
