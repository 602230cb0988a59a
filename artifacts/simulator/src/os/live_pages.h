// live_pages.h - the pages of a process under a log, at one moment: changes are applied one by one, so an epoch of one fault is cheap.
//
// A pool has a word for each page of 4KB up to the last one that was mapped: frame, size, and whether it is mapped. Beside the pools of the
// trace there are those of the log (files, huge pages outside); what is not mapped there is outside. Tables have a
// number for each 2MB, 1GB and 512GB. Chunks (runs of consecutive frames) are kept in a sorted array, but only from the first
// question on: a change then moves the chunks above it, which takes time in proportion to their number.
#pragma once

#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "os/live_areas.h"
#include "os/page_rows.h"
#include "os/table_frames.h"
#include "tessera/trace/trace.h"

namespace tessera::sim {

struct OsLog;
struct OsChange;

class LivePages final : public TableFrames {
public:
    enum class Found { mapped, unmapped, outside };

    LivePages(std::shared_ptr<const OsLog> log, const std::vector<trace::Pool>& pools);

    /// The row of a page: the page of its size. Its chunk is ~0 unless chunks are counted.
    Found find(uint64_t page, MappedRow& row) const;
    uint64_t next_change() const;
    /// The next epoch, also of areas. Returns the ranges of pages that changed, sorted, neighbours joined.
    std::vector<VirtRange> change();

    const LiveAreas& areas() const { return areas_; }
    /// By the last change(), in order.
    std::span<const AreaChange> area_changes() const { return area_changes_; }

    bool counts_chunks() const { return counted_; }
    const std::vector<PageChunk>& chunks();

    size_t tables(VirtAddr address, Path& frames) const override;

private:
    static constexpr uint32_t unknown = ~uint32_t{0};
    static constexpr uint64_t mapped_bit = 1, large_bit = 2, gigantic_bit = 4;
    static constexpr unsigned frame_shift = 3;
    struct Pool {
        uint64_t first_page, end_page;
        std::vector<uint64_t> pages;  ///< [page - first_page]
        std::vector<uint32_t> page_tables;  ///< by 2MB
        std::vector<uint32_t> directories;  ///< by 1GB
    };

    Pool* pool_of(uint64_t page);
    const Pool* pool_of(uint64_t page) const { return const_cast<LivePages*>(this)->pool_of(page); }
    void apply(const OsChange& change);
    void set(Pool& pool, uint64_t page, uint64_t pages, uint64_t word, bool consecutive);
    void set_tables(Pool& pool, const OsChange& change);
    void cut_chunks(uint64_t begin, uint64_t end);
    void add_chunk(const Pool& pool, uint64_t page, uint64_t frame, uint64_t pages);
    size_t chunk_behind(uint64_t page) const;
    bool is_whole(const Pool& pool) const;

    std::shared_ptr<const OsLog> log_;
    size_t epoch_ = 0;
    std::vector<Pool> pools_;  ///< those of the trace, then those of the log
    std::unordered_map<uint64_t, uint32_t> upper_;  ///< by 512GB
    uint32_t root_ = unknown;
    LiveAreas areas_;
    std::span<const AreaChange> area_changes_;
    bool counted_ = false;
    std::vector<PageChunk> chunks_;  ///< sorted by page
};

}  // namespace tessera::sim
