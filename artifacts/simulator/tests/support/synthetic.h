// synthetic.h - streams made in memory: a program of a few static blocks, and frames of block executions.
#pragma once

#include <random>

#include "engine/engine.h"

namespace tessera::sim::testing {

inline constexpr uint64_t heap_base = uint64_t{16} << 30, anon_base = uint64_t{64} << 30;

inline trace::StaticInsn insn(trace::InsnKind kind, uint64_t reads, uint64_t writes, uint64_t address_reads = 0, uint8_t slots = 0) {
    return {reads, writes, address_reads, kind, slots, 4};
}
constexpr uint64_t reg(unsigned r) { return uint64_t{1} << r; }

/// Collects executions into frames of about `frame_accesses` and counts what a header needs.
class StreamBuilder {
public:
    explicit StreamBuilder(uint64_t heap_bytes = uint64_t{4} << 30, uint64_t anon_bytes = uint64_t{4} << 30, size_t frame_accesses = 10000)
        : frame_accesses_(frame_accesses) {
        header_.program = "synthetic";
        header_.origin = "qemu";
        header_.pools = {{trace::PoolKind::heap, heap_base, heap_bytes, heap_bytes},
                         {trace::PoolKind::anon, anon_base, anon_bytes, anon_bytes}};
    }

    uint32_t block(std::vector<trace::StaticInsn> insns, std::vector<trace::MemorySlot> slots) {
        blocks_.push_back({0x400000 + 256 * blocks_.size(), std::move(insns), std::move(slots)});
        return uint32_t(blocks_.size() - 1);
    }

    /// A block that ends with a conditional branch, directly behind the block before it if that is one, too.
    uint32_t loop_block(std::vector<trace::StaticInsn> insns, std::vector<trace::MemorySlot> slots) {
        insns.back().branch = trace::BranchKind::conditional;
        const uint32_t made = block(std::move(insns), std::move(slots));
        if (made > 0 && !blocks_[made - 1].insns.empty() && blocks_[made - 1].insns.back().branch == trace::BranchKind::conditional) {
            blocks_[made].pc = blocks_[made - 1].pc;
            for (const trace::StaticInsn& insn : blocks_[made - 1].insns) blocks_[made].pc += insn.length_bytes;
        }
        return made;
    }

    void run(uint32_t block, const std::vector<uint64_t>& addresses, const std::vector<uint8_t>& stores) {
        if (frames_.empty() || frames_.back().addresses.size() >= frame_accesses_) {
            frames_.emplace_back();
            frames_.back().index = frames_.size() - 1;
            frames_.back().first_access = header_.accesses;
            frames_.back().first_instruction = header_.instructions;
        }
        trace::Frame& f = frames_.back();
        f.block_ids.push_back(block);
        f.access_counts.push_back(uint16_t(addresses.size()));
        f.addresses.insert(f.addresses.end(), addresses.begin(), addresses.end());
        f.is_store.insert(f.is_store.end(), stores.begin(), stores.end());
        f.instructions += trace::instructions_of(blocks_[block]);
        header_.instructions += trace::instructions_of(blocks_[block]);
        header_.accesses += addresses.size();
        ++header_.block_executions;
    }
    /// One load of a block that has one slot.
    void load(uint32_t block, uint64_t address) { run(block, {address}, {0}); }

    /// A block of one load whose address does not depend on earlier loads.
    uint32_t independent_load() { return block({insn(trace::InsnKind::load, reg(1), reg(2), reg(1), 1)}, {{0, 0, 8}}); }
    /// A block of one load whose address is the previous load's result.
    uint32_t chasing_load() { return block({insn(trace::InsnKind::load, reg(1), reg(1), reg(1), 1)}, {{0, 0, 8}}); }

    MemoryStream finish() { return MemoryStream(std::move(header_), std::move(blocks_), std::move(frames_)); }

private:
    size_t frame_accesses_;
    trace::Header header_;
    std::vector<trace::StaticBlock> blocks_;
    std::vector<trace::Frame> frames_;
};

inline Window window(trace::PoolKind pool, PageSize size, uint64_t begin, uint64_t end) { return {pool, size, begin, end, 0}; }

inline Layout all_4kb() { return {"growing-0", {}}; }
inline Layout all_of(PageSize size, uint64_t pool_bytes) {
    return {"all", {window(trace::PoolKind::heap, size, 0, pool_bytes), window(trace::PoolKind::anon, size, 0, pool_bytes)}};
}

/// Layouts under one platform. Throws the first refusal.
inline std::vector<LayoutCounts> simulate(const std::string& engine, const Platform& platform, Stream& stream,
                                          const std::vector<Layout>& layouts, const SamplePlan& plan, uint64_t warm_passes = 0,
                                          bool counts_rows = true) {
    CellsRequest request{stream, plan, {}, warm_passes};
    request.counts_rows = counts_rows;
    for (const Layout& layout : layouts) request.cells.push_back({&platform, &layout});
    std::vector<LayoutCounts> found;
    for (CellCounts& cell : make_engine(engine)->run_cells(request)) {
        if (cell.refusal) throw *cell.refusal;
        found.push_back(std::move(cell.counts));
    }
    return found;
}
inline std::vector<LayoutCounts> simulate(const std::string& engine, const Platform& platform, Stream& stream,
                                          const std::vector<Layout>& layouts, const Sampling& sampling = {}) {
    return simulate(engine, platform, stream, layouts, SamplePlan(sampling, stream.header()));
}

}  // namespace tessera::sim::testing
