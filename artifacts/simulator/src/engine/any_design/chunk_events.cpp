#include "engine/any_design/chunk_events.h"

#include "engine/crossings.h"
#include "engine/instruction_pc.h"
#include "os/address_limit.h"

namespace tessera::sim::any_design {

bool TouchedRegions::add(uint64_t address) {
    const uint64_t region = address >> 21;
    if (region == last_) return false;
    check_address(address);
    last_ = region;
    const uint64_t gigabyte = region >> 9;
    if (gigabyte >= gigabytes_.size()) gigabytes_.resize(gigabyte + 1);
    if (gigabytes_[gigabyte] == nullptr) gigabytes_[gigabyte] = std::make_unique<std::bitset<512>>();
    auto bit = (*gigabytes_[gigabyte])[region & 511];
    if (bit) return false;
    return bit = true;
}

EventReader::EventReader(const Platform& platform, const std::vector<trace::StaticBlock>& blocks)
    : instructions_(platform), prefetchers_(platform) {
    for (const trace::StaticBlock& block : blocks) {
        Block row{block.pc, InstructionSide::bytes_of_block(block), {}};
        for (size_t access = 0; access < std::max<size_t>(block.slots.size(), 1); ++access)
            row.access_pcs.push_back(pc_of_access(block, access));
        blocks_.push_back(std::move(row));
    }
}

void EventReader::read(const Chunk& chunk, bool prefetch, ChunkEvents& out) {
    out.fetches_.clear();
    out.asks_.clear();
    out.first_touch_.resize(chunk.accesses);
    out.pcs_.resize(chunk.accesses);
    out.first_touch_of_second_.resize(chunk.crossings);
    size_t access = 0, crossing = 0;
    for (size_t e = 0; e < chunk.executions; ++e) {
        const Block& block = blocks_[chunk.block_ids[e]];
        if (chunk.source == Source::program)  // instruction fetches of the kernel are not simulated
            instructions_.execute(block.pc, block.bytes,
                                  [&](VirtAddr page) { out.fetches_.push_back({uint32_t(e), page, regions_.add(page.value)}); });
        const size_t first = access, end = access + chunk.access_counts[e];
        for (; access < end; ++access) {
            out.first_touch_[access] = regions_.add(chunk.addresses[access]);
            out.pcs_[access] = block.access_pcs[std::min(access - first, block.access_pcs.size() - 1)];
            if (prefetch && prefetchers_.exists()) observe(chunk, access, out);
            if (crossing < chunk.crossings && chunk.crossing[crossing] == access)
                out.first_touch_of_second_[crossing++] = regions_.add(next_4kb_page(VirtAddr(chunk.addresses[access])).value);
        }
    }
}

void EventReader::observe(const Chunk& chunk, size_t access, ChunkEvents& out) {
    const DemandAccess demand{out.pcs_[access], VirtAddr(chunk.addresses[access]), chunk.is_store[access] != 0};
    prefetchers_.observe(demand, [&](VirtAddr target, bool into_l1d) { out.asks_.push_back({uint32_t(access), target, into_l1d}); });
}

}  // namespace tessera::sim::any_design
