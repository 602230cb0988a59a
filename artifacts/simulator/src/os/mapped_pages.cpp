// mapped_pages.cpp - the rows of a mapping at virtual pages, their chunks, and a table of 2MB regions to find them.
//
// The table of a pool ends with its last row, so a pool that is mostly unused needs little memory.
#include "os/mapped_pages.h"

#include <algorithm>
#include <string>

#include "base/error.h"
#include "os/kernel_addresses.h"
#include "os/row_splice.h"

namespace tessera::sim {
namespace {

constexpr uint64_t region_pages = 512;

[[noreturn]] void refuse(const Mapping& mapping, const MappingRow& row, const std::string& found, const std::string& remedy) {
    throw Refusal("mapping " + mapping.name + ", pool " + name_of(row.pool) + ", page " + std::to_string(row.page), found, remedy);
}

}  // namespace

MappedPages::MappedPages(std::shared_ptr<const Mapping> mapping, const std::vector<trace::Pool>& pools) : mapping_(std::move(mapping)) {
    for (const trace::Pool& pool : pools) {
        const uint64_t first = pool.base >> 12;
        pools_.push_back({pool.kind, first, first + pool.size_bytes / 4096 + (pool.size_bytes % 4096 != 0), {}});
    }
    std::sort(pools_.begin(), pools_.end(), [](const PoolIndex& a, const PoolIndex& b) { return a.first_page < b.first_page; });
    if (mapping_->log) live_.emplace(mapping_->log, pools);
    for (const MappingEpoch& epoch : mapping_->epochs)
        for (const MappingRow& row : epoch.rows) {
            const auto pool = std::find_if(pools.begin(), pools.end(), [&](const trace::Pool& p) { return p.kind == row.pool; });
            if (pool == pools.end()) refuse(*mapping_, row, "the trace has no such pool [trace/no-pool]", "use the mapping of this trace");
            if (row.page + row.pages > pool->size_bytes / 4096 + (pool->size_bytes % 4096 != 0))
                refuse(*mapping_, row, "the row ends outside its pool [trace/outside-pool]", "use the mapping of this trace");
            if (pool->base % bytes_of(row.size).value != 0)
                refuse(*mapping_, row,
                       "the pool's base, " + std::to_string(pool->base) + ", must be a multiple of the page size [trace/pool-base]",
                       "record the trace under libmosalloc, whose pools are aligned to 1GB");
        }
    if (mapping_->epochs.empty()) return;
    rows_ = rows_of_epoch();
    index();
}

std::vector<MappedRow> MappedPages::rows_of_epoch() const {
    const std::vector<MappingRow>& rows = mapping_->epochs[epoch_].rows;
    std::vector<MappedRow> found;
    found.reserve(rows.size());
    for (const PoolIndex& pool : pools_)
        for (const MappingRow& row : rows)
            if (row.pool == pool.kind)
                found.push_back({pool.first_page + row.page, row.mapped ? row.frame : no_frame, row.pages, row.size});
    return found;
}

PageChunk MappedPages::chunk(VirtAddr address) const {
    if (live_) live_chunks();
    const MappedRow& found = row(address);
    return found.chunk == MappedRow::no_chunk ? PageChunk{found.page, found.frame, found.pages} : chunks()[found.chunk];
}

uint64_t MappedPages::next_change() const {
    if (live_) return live_->next_change();
    return epoch_ + 1 < mapping_->epochs.size() ? mapping_->epochs[epoch_ + 1].access : ~uint64_t{0};
}

std::vector<VirtRange> MappedPages::change() {
    std::vector<VirtRange> ranges;
    if (live_) {
        last_ = {};
        return live_->change();
    }
    if (next_change() == ~uint64_t{0}) return ranges;
    ++epoch_;
    const std::vector<MappedRow> fresh = rows_of_epoch();
    for (const MappedRow& row : fresh) {
        const VirtRange range{VirtAddr(row.page << 12), VirtAddr(end_of(row) << 12)};
        if (!ranges.empty() && ranges.back().end == range.begin) ranges.back().end = range.end;
        else ranges.push_back(range);
    }
    rows_ = replaced(rows_, fresh);
    index();
    return ranges;
}

/// Joins rows of a pool that are one row, and sets chunks and the tables of regions.
void MappedPages::index() {
    last_ = {};
    last_number_ = expected_ = no_row;
    chunks_.clear();
    size_t joined = 0, at = 0;
    for (PoolIndex& pool : pools_) {
        const size_t first = joined;
        for (; at < rows_.size() && rows_[at].page < pool.end_page; ++at) {
            MappedRow row = rows_[at];
            const MappedRow* before = joined > first ? &rows_[joined - 1] : nullptr;
            const bool goes_on = before && end_of(*before) == row.page && before->frame + before->pages == row.frame;
            if (goes_on) chunks_.back().pages += row.pages;
            else chunks_.push_back({row.page, row.frame, row.pages});
            if (goes_on && before->size == row.size) {
                rows_[joined - 1].pages += row.pages;
                continue;
            }
            row.chunk = static_cast<uint32_t>(chunks_.size() - 1);
            rows_[joined++] = row;
        }
        pool.first_row.clear();
        if (joined == first) continue;
        const uint64_t regions = (end_of(rows_[joined - 1]) - pool.first_page + region_pages - 1) / region_pages;
        pool.first_row.resize(regions + 1, static_cast<uint32_t>(joined - 1));
        size_t row = first;
        for (uint64_t region = 0; region < regions; ++region) {
            while (end_of(rows_[row]) <= pool.first_page + region * region_pages) ++row;
            pool.first_row[region] = static_cast<uint32_t>(row);
        }
    }
    rows_.resize(joined);
}

const std::vector<PageChunk>& MappedPages::live_chunks() const {
    const bool counted = live_->counts_chunks();
    const std::vector<PageChunk>& found = live_->chunks();
    if (!counted && last_.pages != 0) search_live(last_.page);  // the row that was found last gets its chunk
    return found;
}

const MappedRow& MappedPages::find(uint64_t page) const {
    if (const MappedRow* row = search(page)) return *row;
    for (const PoolIndex& pool : pools_)
        if (page >= pool.first_page && page < pool.end_page)
            throw Unmapped((live_ ? "log " : "mapping ") + mapping_->name + ", pool " + name_of(pool.kind) + ", page " +
                           std::to_string(page - pool.first_page) + " [mapping/touched]");
    throw std::logic_error("page " + std::to_string(page) + " is in no pool and has no row");
}

const MappedRow* MappedPages::search_live(uint64_t page) const {
    if (direct_map_ && page >= kernel::begin >> 12) return &(last_ = kernel::row(page, *direct_map_));
    switch (live_->find(page, last_)) {
        case LivePages::Found::mapped: break;
        case LivePages::Found::outside: last_ = {page, outside_frames + page, 1, PageSize::small_4kb, MappedRow::no_chunk}; break;
        case LivePages::Found::unmapped: return nullptr;
    }
    return &last_;
}

/// The row becomes the last one; null: the page is in a pool and has none.
const MappedRow* MappedPages::search(uint64_t page) const {
    if (live_) return search_live(page);
    if (expected_ < rows_.size() && page - rows_[expected_].page < rows_[expected_].pages) {
        last_number_ = expected_;
        return &(last_ = rows_[expected_]);
    }
    for (const PoolIndex& pool : pools_) {
        if (page < pool.first_page || page >= pool.end_page) continue;
        const uint64_t region = (page - pool.first_page) / region_pages;
        if (region + 1 < pool.first_row.size()) {
            // The row that begins last of those that begin at or before the page. One that begins in the region before may reach here.
            const auto begin = rows_.begin() + pool.first_row[region], end = rows_.begin() + pool.first_row[region + 1] + 1;
            const auto after = std::upper_bound(begin, end, page, [](uint64_t p, const MappedRow& r) { return p < r.page; });
            if (after != begin && page < end_of(*(after - 1))) {
                last_number_ = uint32_t(after - 1 - rows_.begin());
                return &(last_ = *(after - 1));
            }
        }
        return nullptr;
    }
    last_number_ = no_row;
    return &(last_ = {page, outside_frames + page, 1, PageSize::small_4kb, MappedRow::no_chunk});
}

}  // namespace tessera::sim
