// random_inputs.h - random programs, layouts and platforms with every component, for tests that compare engines.
#pragma once

#include "mmu/components.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {

class RandomInputs {
public:
    explicit RandomInputs(uint64_t seed) : random_(seed * 7919 + 13) {}

    uint64_t below(uint64_t n) { return random_() % n; }
    template <class T>
    T any(std::initializer_list<T> values) {
        return values.begin()[below(values.size())];
    }

    /// Blocks of loads, stores and arithmetic in a few code pages; accesses of 1 to 64 bytes, many of them at the end of a page; addresses near the last one, in hot places, anywhere in the
    /// pools and outside; runs of lines that prefetchers follow; executions with more or fewer accesses than slots.
    MemoryStream stream(size_t accesses) {
        StreamBuilder builder(pool_bytes, pool_bytes, 700);
        std::vector<uint32_t> blocks;
        std::vector<size_t> slots;
        for (int i = 0; i < 12; ++i) blocks.push_back(block(builder, slots));
        std::vector<uint64_t> hot(24, heap_base);
        for (size_t done = 0; done < accesses;) {
            const size_t b = below(blocks.size());
            size_t count = slots[b];
            if (count > 0 && below(10) == 0) count = below(9);
            std::vector<uint64_t> addresses;
            std::vector<uint8_t> stores;
            for (size_t i = 0; i < count; ++i) addresses.push_back(crossing(address(hot))), stores.push_back(below(3) == 0);
            builder.run(blocks[b], addresses, stores);
            done += count + 1;
        }
        return builder.finish();
    }

    Layout layout(size_t number) {
        Layout layout{"random-" + std::to_string(number), {}};
        for (trace::PoolKind pool : {trace::PoolKind::heap, trace::PoolKind::anon})
            for (uint64_t at = below(4) << 21; at < pool_bytes && below(6) != 0;) {
                const PageSize size = below(4) ? PageSize::large_2mb : PageSize::huge_1gb;
                const uint64_t page = bytes_of(size).value, begin = (at + page - 1) / page * page;
                const uint64_t end = begin + page * (1 + below(size == PageSize::large_2mb ? 12 : 2));
                if (end > pool_bytes) break;
                layout.windows.push_back(window(pool, size, begin, end));
                at = end + (below(9) << 21);
            }
        return layout;
    }

    /// Tiny structures of any shape and every built-in component.
    Platform platform() {
        Platform p = tiny(unsigned(below(30)));
        const std::initializer_list<std::string> policies = {"lru", "tree-plru", "srrip"};
        p.l1_replacement = any(policies), p.l1i_replacement = any(policies), p.stlb_replacement = any(policies);
        p.l1_4kb = geometry(6, 5), p.l1_2mb = geometry(3, 4), p.l1_1gb = geometry(2, 2);
        p.l1_2mb_in_4kb = below(3) == 0, p.l1_1gb_in_4kb = below(3) == 0;
        p.stlb = below(4) ? geometry(7, 12) : Geometry{};
        p.stlb_holds_2mb = below(2), p.stlb_holds_1gb = below(2);
        p.stlb_2mb = !p.stlb_holds_2mb && below(2) ? geometry(3, 4) : Geometry{};
        p.stlb_1gb = !p.stlb_holds_1gb && below(2) ? geometry(2, 2) : Geometry{};
        p.l1i = below(2) ? geometry(3, 3) : Geometry{};
        p.page_table_levels = 4 + below(2);
        p.pwc_pde = below(4) ? geometry(4, 3) : Geometry{}, p.pwc_pdpte = below(4) ? geometry(2, 2) : Geometry{};
        p.pwc_pml4e = below(3) ? geometry(1, 2) : Geometry{};
        p.pwc_pml5e = p.page_table_levels == 5 && below(2) ? geometry(1, 2) : Geometry{};
        p.l3_slices = any<uint64_t>({0, 0, 1, 2, 4, 9, 12});  // of 36 sets
        p.walker_pollutes = below(4) != 0;
        p.overlap = below(8) != 0;
        p.walkers = below(4);
        p.walker_uses_mshrs = below(2);
        p.walker_begin_cycles = below(3) * 11, p.walker_load_adds_cycles = below(3) * 7;
        if (below(2)) p.dram = {1 + below(3), 1 + below(5), 256, 40, 50, 1 + below(9)};
        p.dram_queues_walks = below(2);
        p.write_backs = below(2);
        p.prefetch_l1d = below(2) ? PrefetchSlot{"stride", 1 + below(8), 1 + below(3), 1 + below(3)} : PrefetchSlot{};
        p.prefetch_l2 = below(2) ? PrefetchSlot{"stream", 1 + below(8), 1 + below(4), 1 + below(12)} : PrefetchSlot{};
        core_features(p);
        return p;
    }

private:
    /// Each feature of the core off in some platforms.
    void core_features(Platform& p) {
        p.branch_predictor = any<std::string>({"perfect", "gshare", "tage"});
        p.branch_refill_cycles = below(3) * 9;
        p.return_stack_entries = below(4), p.target_entries = below(2) * 4;
        p.early_registers = below(2);
        p.string = {below(2) * 25, below(2) * below(200)};
        p.ports = {below(4), below(3), below(5)};
        p.store_forward_cycles = below(3) * 3;
        p.call_cycles = below(3);
    }

    static constexpr uint64_t pool_bytes = uint64_t{4} << 30;

    Geometry geometry(uint64_t most_sets, uint64_t most_ways) {
        const uint64_t ways = 1 + below(most_ways);
        return {ways * (1 + below(most_sets)), ways};
    }

    uint32_t block(StreamBuilder& builder, std::vector<size_t>& slot_counts) {
        using trace::InsnKind;
        std::vector<trace::StaticInsn> insns;
        std::vector<trace::MemorySlot> slots;
        const size_t count = 1 + below(6);
        for (uint16_t i = 0; i < count; ++i) {
            const auto kind = static_cast<InsnKind>(below(12));
            const bool loads = kind == InsnKind::load || kind == InsnKind::load_store;
            const bool stores = kind == InsnKind::store || kind == InsnKind::load_store;
            const uint64_t address = loads || stores ? reg(unsigned(below(6))) : 0;
            const uint64_t reads = address | (below(2) ? reg(unsigned(below(6))) : 0) | (below(8) ? 0 : reg(16) | reg(20));
            insns.push_back(insn(kind, reads, below(3) ? reg(unsigned(below(6))) : 0, address, uint8_t(loads + stores)));
            insns.back().length_bytes = uint8_t(1 + below(200));  // long, so that a dozen blocks are in several code pages
            const uint8_t bytes = uint8_t(1 << below(7));
            if (loads) slots.push_back({i, 0, bytes});
            if (stores) slots.push_back({i, 1, bytes});
            insns.back().early_writes = below(3) == 0 ? insns.back().writes : 0;
            if (below(6) == 0) insns.back().string = static_cast<trace::StringPart>(1 + below(2));
        }
        if (below(4) != 0) insns.back().branch = static_cast<trace::BranchKind>(1 + below(6));
        slot_counts.push_back(slots.size());
        return builder.block(insns, slots);
    }

    /// One in eight moves to the last bytes of its page, or of its 2MB or 1GB region, which accesses of 2 to 64 bytes cross.
    uint64_t crossing(uint64_t address) {
        if (below(8) != 0) return address;
        const uint64_t page = any<uint64_t>({1 << 12, 1 << 12, 1 << 12, 1 << 21, 1 << 30});
        const uint64_t end = address | ((address < anon_base + pool_bytes ? page : 4096) - 1);  // the stack's last GB ends at 2^47
        return end - below(below(2) ? 64 : 4);
    }

    uint64_t address(std::vector<uint64_t>& hot) {
        switch (below(9)) {
            case 0: return heap_base + below(pool_bytes);
            case 1: return anon_base + below(uint64_t{64} << 20);
            case 2: return 0x7ffff0000000 + below(1 << 16);
            case 3: return hot[below(hot.size())] = heap_base + below(uint64_t{24} << 20);
            case 4: return hot.back() += 8;
            case 5: return hot.back() = anon_base + below(1 << 20) * 4096 % pool_bytes;
            case 6: return hot.front() += 64;
            default: return hot[below(hot.size())] + below(256);
        }
    }

    std::mt19937_64 random_;
};

}  // namespace tessera::sim::testing
