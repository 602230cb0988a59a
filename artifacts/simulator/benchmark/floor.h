// floor.h - floors: simple loops that an engine must not be slower than; and their common code.
//
// A floor is straightforward code: scalar, exact, one layout at a time, with fixed sizes known to the compiler.
// Offsets replace addresses (the pool is aligned), so 32-bit tags are enough. The processor is Haswell's:
// 64-entry and 32-entry L1 DTLBs, 1024-entry shared STLB, 32KB/256KB/30MB caches.
#pragma once

#include <cstdint>
#include <vector>

#include "base/platform.h"
#include "tessera/trace/trace.h"

namespace tessera::sim::benchmark {

struct FloorInput {
    std::vector<uint64_t> offsets;        ///< pool offset of each access
    std::vector<uint8_t> region_is_2mb;   ///< by 2MB region of the pool
    std::vector<uint32_t> block_ids;      ///< of each access; each execution has one
    std::vector<uint8_t> redirected;      ///< of each access: the branch before its block was mispredicted
    const std::vector<trace::StaticBlock>* blocks = nullptr;
};

struct FloorCounts {
    uint64_t hits = 0, misses = 0, walk_cycles = 0, runtime_cycles = 0;
};

FloorCounts floor_hm(const FloorInput& input);
FloorCounts floor_hmc(const FloorInput& input);
/// Six instructions an access (streams.h), 192-entry window, one walker.
FloorCounts floor_r(const FloorInput& input);
/// The same with everything of model_features.h: its C and R are the engine's, to the cycle.
FloorCounts floor_everything(const FloorInput& input);
/// For floor_everything: predicts all branches once for all layouts, as a loop over layouts would, too.
void predict(FloorInput& input, const Platform& platform);

/// Set-associative move-to-front LRU. Tags are non-zero.
template <unsigned sets, unsigned ways>
struct FloorLru {
    std::vector<uint32_t> tags = std::vector<uint32_t>(sets * ways);
    static uint32_t set_of(uint32_t number) {
        if constexpr ((sets & (sets - 1)) == 0) return number & (sets - 1);
        else return number % sets;  // a constant: the compiler multiplies
    }
    bool reference(uint32_t set, uint32_t tag) {
        uint32_t* way = &tags[set * ways];
        if (way[0] == tag) return true;
        unsigned w = 1;
        while (w < ways && way[w] != tag) ++w;
        const bool hit = w < ways;
        for (unsigned k = hit ? w : ways - 1; k > 0; --k) way[k] = way[k - 1];
        way[0] = tag;
        return hit;
    }
};

enum class FloorTranslation { l1, stlb, miss };

struct FloorTlbs {
    FloorLru<16, 4> l1_4kb;
    FloorLru<8, 4> l1_2mb;
    FloorLru<128, 8> stlb;
    FloorTranslation translate(uint64_t offset, bool is_2mb) {
        const uint32_t page = uint32_t(offset >> (is_2mb ? 21 : 12)), tag = (page + 1) << 1 | is_2mb;
        const bool first = is_2mb ? l1_2mb.reference(l1_2mb.set_of(page), tag) : l1_4kb.reference(l1_4kb.set_of(page), tag);
        if (first) return FloorTranslation::l1;
        return stlb.reference(stlb.set_of(page), tag) ? FloorTranslation::stlb : FloorTranslation::miss;
    }
};

/// Each level is asked only when the one above misses (the common rule, and the cheapest).
struct FloorCaches {
    FloorLru<64, 8> l1d;
    FloorLru<512, 8> l2;
    FloorLru<24576, 20> l3;
    uint32_t load(uint32_t line) {
        if (l1d.reference(l1d.set_of(line), line + 1)) return 4;
        if (l2.reference(l2.set_of(line), line + 1)) return 12;
        return l3.reference(l3.set_of(line), line + 1) ? 36 : 200;
    }
};

/// One walk-cache, of page-directory entries.
struct FloorWalker {
    FloorLru<8, 4> pde;
    uint32_t walk(FloorCaches& caches, uint64_t offset, bool is_2mb) {
        const uint32_t region = uint32_t(offset >> 21), tables = 1u << 30;
        const uint32_t pde_line = tables + (region >> 3), pte_line = tables + 4096 + uint32_t(offset >> 15);
        if (is_2mb) return caches.load(pde_line);
        const uint32_t upper = pde.reference(pde.set_of(region), region + 1) ? 0 : caches.load(pde_line);
        return upper + caches.load(pte_line);
    }
};

}  // namespace tessera::sim::benchmark
