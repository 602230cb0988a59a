#include "os/live_pages.h"

#include <algorithm>

#include "os/os_log.h"

namespace tessera::sim {
namespace {

constexpr uint64_t large_pages = 512, gigantic_pages = 512 * 512;
constexpr unsigned pages_2mb = 9, pages_1gb = 18, pages_512gb = 27;

uint32_t& at(std::vector<uint32_t>& all, uint64_t index) {
    if (index >= all.size()) all.resize(index + 1, ~uint32_t{0});
    return all[index];
}
uint32_t known(const std::vector<uint32_t>& all, uint64_t index) { return index < all.size() ? all[index] : ~uint32_t{0}; }

}  // namespace

LivePages::LivePages(std::shared_ptr<const OsLog> log, const std::vector<trace::Pool>& pools) : log_(std::move(log)) {
    for (const auto* all : {&pools, &log_->more_pools})
        for (const trace::Pool& pool : *all)
            pools_.push_back({pool.base >> 12, (pool.base >> 12) + pool.size_bytes / 4096 + (pool.size_bytes % 4096 != 0), {}, {}, {}});
}

/// Whether all of its pages are the log's: a pool of the trace.
bool LivePages::is_whole(const Pool& pool) const {
    return static_cast<size_t>(&pool - pools_.data()) < pools_.size() - log_->more_pools.size();
}

LivePages::Pool* LivePages::pool_of(uint64_t page) {
    for (Pool& pool : pools_)
        if (page >= pool.first_page && page < pool.end_page) return &pool;
    return nullptr;
}

LivePages::Found LivePages::find(uint64_t page, MappedRow& row) const {
    const Pool* pool = pool_of(page);
    if (pool == nullptr) return Found::outside;
    const uint64_t place = page - pool->first_page, word = place < pool->pages.size() ? pool->pages[place] : 0;
    if (!(word & mapped_bit)) return is_whole(*pool) ? Found::unmapped : Found::outside;
    const bool large = word & large_bit, gigantic = word & gigantic_bit;
    const uint64_t pages = gigantic ? gigantic_pages : large ? large_pages : 1, inside = page % pages, frame = word >> frame_shift;
    row = {page - inside, frame - inside, pages,
           gigantic ? PageSize::huge_1gb
           : large  ? PageSize::large_2mb
                    : PageSize::small_4kb,
           unknown};
    if (counted_) row.chunk = static_cast<uint32_t>(chunk_behind(page) - 1);
    return Found::mapped;
}

uint64_t LivePages::next_change() const { return log_->begin_of(epoch_); }

std::vector<VirtRange> LivePages::change() {
    std::vector<VirtRange> ranges;
    if (epoch_ == log_->epochs.size()) return ranges;
    area_changes_ = log_->areas_of(epoch_);
    for (const AreaChange& change : area_changes_) areas_.apply(change);
    for (const OsChange& change : log_->changes_of(epoch_++)) {
        apply(change);
        ranges.push_back({VirtAddr(change.page << 12), VirtAddr((change.page + change.pages) << 12)});
    }
    if (ranges.size() < 2) return ranges;
    std::sort(ranges.begin(), ranges.end(), [](const VirtRange& a, const VirtRange& b) { return a.begin.value < b.begin.value; });
    size_t last = 0;
    for (size_t i = 1; i < ranges.size(); ++i) {
        if (ranges[i].begin.value <= ranges[last].end.value)
            ranges[last].end = VirtAddr(std::max(ranges[last].end.value, ranges[i].end.value));
        else ranges[++last] = ranges[i];
    }
    ranges.resize(last + 1);
    return ranges;
}

void LivePages::apply(const OsChange& change) {
    Pool& pool = *pool_of(change.page);
    const uint64_t frame = change.frame << frame_shift | mapped_bit;
    switch (change.kind) {
        case os::Kind::map:
            set(pool, change.page, change.pages, frame | (change.gigantic ? gigantic_bit : change.large ? large_bit : 0), true);
            break;
        case os::Kind::collapse: set(pool, change.page, change.pages, frame | large_bit, true); break;
        case os::Kind::split: set(pool, change.page, change.pages, frame, change.frame != os::zero_frame); break;
        case os::Kind::unmap: set(pool, change.page, change.pages, 0, false); break;
        default: break;
    }
    if (change.table_count > 0) set_tables(pool, change);
    if (!counted_ || change.kind == os::Kind::upgrade) return;
    cut_chunks(change.page, change.page + change.pages);
    if (change.kind == os::Kind::unmap) return;
    const bool zeros = change.kind == os::Kind::split && change.frame == os::zero_frame;
    if (!zeros) add_chunk(pool, change.page, change.frame, change.pages);
    for (uint64_t i = 0; zeros && i < change.pages; ++i) add_chunk(pool, change.page + i, os::zero_frame, 1);
}

/// The words of a range: the first one, and those behind it with the same frame, or the next ones.
void LivePages::set(Pool& pool, uint64_t page, uint64_t pages, uint64_t word, bool consecutive) {
    const uint64_t begin = page - pool.first_page;
    uint64_t end = begin + pages;
    if (word == 0) end = std::min<uint64_t>(end, pool.pages.size());
    else if (end > pool.pages.size())
        pool.pages.resize(std::min(std::max(end, pool.pages.size() * 3 / 2), pool.end_page - pool.first_page));
    for (uint64_t i = begin; i < end; ++i, word += consecutive ? uint64_t{1} << frame_shift : 0) pool.pages[i] = word;
}

void LivePages::set_tables(Pool& pool, const OsChange& change) {
    const uint32_t* frames = log_->tables.data() + change.tables;
    const size_t count = change.table_count;
    root_ = frames[0];
    if (count > 1) upper_[change.page >> pages_512gb] = frames[1];
    if (count > 2) at(pool.directories, (change.page >> pages_1gb) - (pool.first_page >> pages_1gb)) = frames[2];
    if (count > 3) at(pool.page_tables, (change.page >> pages_2mb) - (pool.first_page >> pages_2mb)) = frames[3];
}

size_t LivePages::tables(VirtAddr address, Path& frames) const {
    const uint64_t page = address.value >> 12;
    const Pool* pool = pool_of(page);
    if (pool == nullptr || root_ == unknown) return 0;
    const auto upper = upper_.find(page >> pages_512gb);
    if (upper == upper_.end()) return 0;
    frames[0] = root_;
    frames[1] = upper->second;
    const uint64_t place = page - pool->first_page, word = place < pool->pages.size() ? pool->pages[place] : 0;
    if (word & gigantic_bit) return 2;
    frames[2] = known(pool->directories, (page >> pages_1gb) - (pool->first_page >> pages_1gb));
    if (frames[2] == unknown) return 0;
    frames[3] = known(pool->page_tables, (page >> pages_2mb) - (pool->first_page >> pages_2mb));
    return word & large_bit || frames[3] == unknown ? 3 : 4;
}

/// How many chunks begin at or before the page.
size_t LivePages::chunk_behind(uint64_t page) const {
    return static_cast<size_t>(
        std::upper_bound(chunks_.begin(), chunks_.end(), page, [](uint64_t p, const PageChunk& c) { return p < c.page; }) -
        chunks_.begin());
}

const std::vector<PageChunk>& LivePages::chunks() {
    if (counted_) return chunks_;
    counted_ = true;
    for (const Pool& pool : pools_)
        for (size_t i = 0; i < pool.pages.size(); ++i)
            if (pool.pages[i] & mapped_bit) add_chunk(pool, pool.first_page + i, pool.pages[i] >> frame_shift, 1);
    return chunks_;
}

void LivePages::cut_chunks(uint64_t begin, uint64_t end) {
    size_t first = chunk_behind(begin);
    if (first > 0 && chunks_[first - 1].page + chunks_[first - 1].pages > begin) --first;
    size_t last = first;
    while (last < chunks_.size() && chunks_[last].page < end) ++last;
    if (first == last) return;
    std::array<PageChunk, 2> rest;
    size_t count = 0;
    const PageChunk low = chunks_[first], high = chunks_[last - 1];
    if (low.page < begin) rest[count++] = {low.page, low.frame, begin - low.page};
    if (high.page + high.pages > end) rest[count++] = {end, high.frame + (end - high.page), high.page + high.pages - end};
    const auto from = chunks_.begin() + static_cast<ptrdiff_t>(first);
    if (last - first < count) {  // one chunk is cut into two
        *from = rest[0];
        chunks_.insert(from + 1, rest[1]);
        return;
    }
    std::copy(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(count), from);
    chunks_.erase(from + static_cast<ptrdiff_t>(count), chunks_.begin() + static_cast<ptrdiff_t>(last));
}

/// pre: no chunk has a page of the range.
void LivePages::add_chunk(const Pool& pool, uint64_t page, uint64_t frame, uint64_t pages) {
    const size_t place = chunk_behind(page);
    const auto goes_on = [](const PageChunk& a, uint64_t next_page, uint64_t next_frame) {
        return a.page + a.pages == next_page && a.frame + a.pages == next_frame;
    };
    const bool below = place > 0 && page > pool.first_page && goes_on(chunks_[place - 1], page, frame);
    const bool above =
        place < chunks_.size() && page + pages < pool.end_page && goes_on({page, frame, pages}, chunks_[place].page, chunks_[place].frame);
    if (below && above) {
        chunks_[place - 1].pages += pages + chunks_[place].pages;
        chunks_.erase(chunks_.begin() + static_cast<ptrdiff_t>(place));
    } else if (below) {
        chunks_[place - 1].pages += pages;
    } else if (above) {
        chunks_[place] = {page, frame, pages + chunks_[place].pages};
    } else {
        chunks_.insert(chunks_.begin() + static_cast<ptrdiff_t>(place), {page, frame, pages});
    }
}

}  // namespace tessera::sim
