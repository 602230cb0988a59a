// mapped_pages.h - the pages of a process under a mapping, at one moment: virtual page -> frame, size and chunk.
//
// Page numbers here are virtual addresses / 4KB, not pool-relative. A chunk is a maximal run of pages with constant
// frame - page, whatever their sizes; chunks of two pools never merge. A page outside the pools is a chunk of one 4KB page, with
// a frame that no mapping has. A look-up costs a comparison with the row found last, else a search among the rows of a 2MB region.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/error.h"
#include "base/types.h"
#include "os/live_pages.h"
#include "os/mapping.h"
#include "os/physical_map.h"

namespace tessera::sim {

/// Frames of pages outside the pools: this plus their page number. Mapping files have smaller frames.
inline constexpr uint64_t outside_frames = physical::outside.begin >> 12;

/// An address of a pool without a row (rule mapping/touched). Engines add the number of the access.
struct Unmapped : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// What engines throw instead. `access`: number of the data access.
Refusal missing_page(const Unmapped& missing, uint64_t access);

class MappedPages {
public:
    /// The state of epoch 0. Throws Refusal if a large page would not be aligned in virtual memory because its pool is not.
    MappedPages(std::shared_ptr<const Mapping> mapping, const std::vector<trace::Pool>& pools);

    /// The row that holds the address. The reference is valid until the next call. Throws Unmapped.
    const MappedRow& row(VirtAddr address) const {
        const uint64_t page = address.value >> 12;
        if (page - last_.page < last_.pages) return last_;
        return find(page);
    }
    /// Whether row() has the address.
    bool has(VirtAddr address) const {
        const uint64_t page = address.value >> 12;
        return page - last_.page < last_.pages || search(page) != nullptr;
    }
    /// The number of the row that row() gave last; no_row outside the pools. Valid until change().
    uint32_t row_number() const { return last_number_; }
    /// The next addresses are likely to be in this row: they are then found without a search.
    void expect_row(uint32_t number) const { expected_ = number; }
    static constexpr uint32_t no_row = ~uint32_t{0};
    PageChunk chunk(VirtAddr address) const;
    PhysAddr physical(VirtAddr address) const {
        const MappedRow& r = row(address);
        return PhysAddr(((r.frame + (address.value >> 12) - r.page) << 12) + (address.value & 4095));
    }

    /// All chunks of the pools, by page. Those of pages outside the pools are not among them.
    const std::vector<PageChunk>& chunks() const { return live_ ? live_chunks() : chunks_; }
    /// Not under a log, which has no rows: only the pages of the moment.
    const std::vector<MappedRow>& rows() const { return rows_; }

    /// From now on, addresses of the kernel (os/kernel_addresses.h) have pages of this size. pre: the mapping is a log.
    void add_kernel(PageSize direct_map) {
        direct_map_ = direct_map;
        last_ = {};
    }

    /// The frames of real page tables; null unless the mapping is a log.
    const TableFrames* tables() const { return live_ ? &*live_ : nullptr; }

    /// Under a log, the areas of the moment; else null, and there are no changes.
    const LiveAreas* areas() const { return live_ ? &live_->areas() : nullptr; }
    std::span<const AreaChange> area_changes() const { return live_ ? live_->area_changes() : std::span<const AreaChange>(); }

    /// The access from which the next epoch holds; ~0 if there is none.
    uint64_t next_change() const;
    /// Goes on to the next epoch. Returns the ranges that changed, sorted, neighbours joined. Chunks get new indices.
    std::vector<VirtRange> change();

private:
    const MappedRow& find(uint64_t page) const;
    const MappedRow* search(uint64_t page) const;
    const MappedRow* search_live(uint64_t page) const;
    const std::vector<PageChunk>& live_chunks() const;
    std::vector<MappedRow> rows_of_epoch() const;
    void index();

    struct PoolIndex {
        trace::PoolKind kind;
        uint64_t first_page, end_page;
        std::vector<uint32_t> first_row;  ///< by 2MB from first_page on: the first row that ends behind its begin; the last row
    };
    std::shared_ptr<const Mapping> mapping_;
    std::optional<PageSize> direct_map_;  ///< none: there are no addresses of the kernel
    size_t epoch_ = 0;
    std::vector<PoolIndex> pools_;
    std::vector<MappedRow> rows_;
    std::vector<PageChunk> chunks_;
    mutable std::optional<LivePages> live_;  ///< under a log; mutable: chunks are counted from the first question on
    mutable MappedRow last_;
    mutable uint32_t last_number_ = no_row, expected_ = no_row;
};

}  // namespace tessera::sim
