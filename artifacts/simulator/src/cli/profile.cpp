// profile.cpp - `tessera-sim profile`: counts the STLB misses of the 4KB layout by 2MB region of the pools.
//
// Input of the sliding-window layouts (MICRO'20 section VI-B), in place of a PEBS miss trace.
#include <array>
#include <cstdio>
#include <memory>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "cli/output_file.h"
#include "engine/crossings.h"
#include "engine/stream.h"
#include "mmu/components.h"
#include "mmu/design.h"
#include "mmu/instruction_side.h"
#include "os/address_limit.h"

namespace tessera::sim {

namespace {

/// Misses of one pool by 2MB region, and which regions the design knows. Memory grows with the gigabytes that are touched, not with the
/// pool, which can be all addresses.
struct PoolMisses {
    struct Region {
        uint64_t misses = 0;
        bool touched = false;
    };
    using Gigabyte = std::array<Region, 512>;

    trace::Pool pool;
    std::vector<std::unique_ptr<Gigabyte>> gigabytes;

    explicit PoolMisses(const trace::Pool& p) : pool(p), gigabytes((p.size_bytes >> 30) + 1) {}
    bool holds(uint64_t address) const { return address - pool.base < pool.size_bytes; }
    Region& region(uint64_t address) {
        const uint64_t offset = address - pool.base;
        std::unique_ptr<Gigabyte>& gigabyte = gigabytes[offset >> 30];
        if (!gigabyte) [[unlikely]]
            gigabyte = std::make_unique<Gigabyte>();
        return (*gigabyte)[offset >> 21 & 511];
    }
};

/// Whether a reference to the page that was referenced last changes nothing: it hits the entry of L1 that was touched last, which
/// LRU and tree-PLRU leave as it is.
bool repeats_change_nothing(const Platform& p) {
    return p.mmu_design == "conventional" && p.tlb_organisation == "split" &&
           (p.l1_replacement == "lru" || p.l1_replacement == "tree-plru");
}

void write(OutputFile& file, const std::vector<PoolMisses>& pools) {
    std::FILE* out = file.stream();
    std::fputs("pool,offset_bytes,stlb_misses\n", out);
    for (const PoolMisses& p : pools)
        for (size_t gigabyte = 0; gigabyte < p.gigabytes.size(); ++gigabyte)
            for (size_t region = 0; p.gigabytes[gigabyte] && region < 512; ++region)
                if (const uint64_t misses = (*p.gigabytes[gigabyte])[region].misses)
                    std::fprintf(out, "%s,%llu,%llu\n", name_of(p.pool.kind),
                                 static_cast<unsigned long long>(gigabyte << 30 | region << 21), static_cast<unsigned long long>(misses));
    file.close();
}

}  // namespace

int profile_command(int argc, char** argv) {
    const CommandHelp help{"profile",
                           "count the STLB misses of the 4KB layout by 2MB region",
                           {{"trace", "FILE", std::nullopt, "recorded trace (`tessera trace record`)"},
                            {"platform", "FILE", std::nullopt, "flat platform file: lines `key = value`"},
                            {"out", "FILE", std::nullopt, "CSV file to write"}},
                           {"tessera-sim profile --trace gups.tst --platform haswell.flat --out misses.csv"},
                           {}};
    const Options options(help, argc, argv);
    if (options.wants_help()) return 0;
    const Platform platform = read_platform(options["platform"]);
    FileStream stream(options["trace"]);
    check_slot_sizes(stream.blocks());
    OutputFile out("--out", options["out"], {options["trace"], options["platform"]});
    std::vector<PoolMisses> pools(stream.header().pools.begin(), stream.header().pools.end());
    const Layout all_4kb{"growing-0", {}};
    const AddressSpace space(stream.header().pools, all_4kb);
    check_components(platform);
    const auto design = designs().make(platform.mmu_design, DesignContext{platform, space});
    if (design->needs_caches())
        throw Refusal("profile under mmu.design = " + platform.mmu_design.name,
                      "its misses depend on the data caches, which a profile leaves out", "profile with mmu.design = conventional");
    InstructionSide instructions(platform);
    std::vector<uint64_t> block_bytes;
    for (const trace::StaticBlock& block : stream.blocks()) block_bytes.push_back(InstructionSide::bytes_of_block(block));
    const auto touch = [&](VirtAddr address) {
        check_address(address.value);
        design->touch(address);
    };
    const bool skip = repeats_change_nothing(platform);
    PoolMisses* last = nullptr;
    const auto access = [&](VirtAddr address) {
        if (last == nullptr || !last->holds(address.value)) {
            last = nullptr;
            for (PoolMisses& p : pools)
                if (p.holds(address.value)) last = &p;
        }
        if (last == nullptr) {  // stack, code's data, mappings of files
            touch(address);
            design->access_tlb_only({address});
            return;
        }
        PoolMisses::Region& region = last->region(address.value);
        if (!region.touched) {
            touch(address);
            region.touched = true;
        }
        region.misses += design->access_tlb_only({address}) == Translation::miss;
    };
    uint64_t previous_page = ~uint64_t{0};
    trace::Frame frame;
    while (stream.next(frame)) {
        size_t at = 0;
        for (size_t e = 0; e < frame.block_ids.size(); ++e) {
            const uint32_t block = frame.block_ids[e];
            instructions.execute(stream.blocks()[block].pc, block_bytes[block], [&](VirtAddr page) {
                touch(page);
                design->fetch_tlb_only(page);
            });
            for (const size_t first = at, end = at + frame.access_counts[e]; at < end; ++at) {
                const uint64_t page = frame.addresses[at] >> 12;
                if (!skip || page != previous_page) access(VirtAddr(frame.addresses[at]));
                previous_page = page;
                if (!crosses_page(stream.blocks()[block], at - first, frame.addresses[at])) continue;
                access(next_4kb_page(VirtAddr(frame.addresses[at])));
                previous_page = page + 1;
            }
        }
    }
    write(out, pools);
    return 0;
}

}  // namespace tessera::sim
