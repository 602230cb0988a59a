// mapping_oracle.h - random mapping files with several epochs, and their pages one by one in a std::map (slow, and obvious).
#pragma once

#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "os/mapping.h"

namespace tessera::sim::testing {

/// The pages of one pool are 0 to pages - 1. Keys of the oracle are (pool, page).
class MappingOracle {
public:
    using Key = std::pair<trace::PoolKind, uint64_t>;
    struct Page {
        uint64_t frame;
        PageSize size;
    };
    struct Epoch {
        uint64_t access;
        std::vector<MappingRow> rows;
        std::map<Key, Page> pages;  ///< that are mapped from this epoch on
        std::set<Key> changed;
    };

    MappingOracle(uint64_t seed, uint64_t pages) : random_(seed), pages_(pages) {
        const uint64_t count = 1 + below(4);
        for (uint64_t i = 0, access = 0; i < count; ++i, access += 1 + below(100)) add(access);
    }

    std::vector<Epoch> epochs;

    std::string text() const {
        std::string text = "epoch,pool,page,frame,pages,page_size\n";
        for (const Epoch& epoch : epochs)
            for (const MappingRow& row : epoch.rows)
                text += std::to_string(epoch.access) + "," + name_of(row.pool) + "," + std::to_string(row.page) + "," +
                        (row.mapped ? std::to_string(row.frame) : "") + "," + std::to_string(row.pages) + "," +
                        (row.size == PageSize::small_4kb ? "4KB\n" : "2MB\n");
        return text;
    }

private:
    static constexpr uint64_t frames = 16384;

    uint64_t below(uint64_t n) { return random_() % n; }

    void add(uint64_t access) {
        Epoch epoch{access, {}, epochs.empty() ? std::map<Key, Page>{} : epochs.back().pages, {}};
        std::vector<std::pair<Key, uint64_t>> ranges;  // first page, end
        for (trace::PoolKind pool : {trace::PoolKind::heap, trace::PoolKind::anon})
            for (uint64_t at = below(2) * below(pages_); at < pages_; at += below(3) * below(300)) {
                uint64_t end = std::min(pages_, at + 1 + below(1200));
                if (!epochs.empty() && inside_a_large_page(pool, at)) at -= at % 512;
                if (!ranges.empty() && ranges.back().first.first == pool) at = std::max(at, ranges.back().second);
                while (!epochs.empty() && inside_a_large_page(pool, end)) ++end;
                if (at < end) ranges.push_back({{pool, at}, end});
                at = std::max(at, end);
            }
        if (ranges.empty()) ranges.push_back({{trace::PoolKind::heap, 0}, 512});  // pages_ is at least 512
        if (epochs.empty()) used_.assign(frames, false);
        for (const auto& [key, end] : ranges)
            for (uint64_t page = key.second; page < end; ++page) {
                const Key at{key.first, page};
                const auto old = epoch.pages.find(at);
                if (old != epoch.pages.end()) used_[old->second.frame] = false, epoch.pages.erase(old);
                epoch.changed.insert(at);
            }
        for (const auto& [key, end] : ranges) fill(epoch, key.first, key.second, end);
        if (epoch.rows.empty()) return add(access);
        std::erase_if(epoch.changed, [&](const Key& key) { return epochs.empty() && !epoch.pages.contains(key); });
        epochs.push_back(std::move(epoch));
    }

    bool inside_a_large_page(trace::PoolKind pool, uint64_t page) const {
        const auto found = epochs.back().pages.find({pool, page});
        return found != epochs.back().pages.end() && found->second.size == PageSize::large_2mb && page % 512 != 0;
    }

    /// Rows for all pages of a range. In the first epoch, pages without a free frame get no row.
    void fill(Epoch& epoch, trace::PoolKind pool, uint64_t page, uint64_t end) {
        uint64_t behind = below(frames);  // the frame that makes a row go on with the chunk of the last one
        while (page < end) {
            const PageSize size = page % 512 == 0 && page + 512 <= end && below(4) ? PageSize::large_2mb : PageSize::small_4kb;
            const uint64_t step = size == PageSize::large_2mb ? 512 : 1;
            uint64_t pages = step == 512 ? 512 : 1 + below(std::min<uint64_t>(end - page, below(2) ? 4 : 600));
            if (step == 512 && below(3) == 0 && page + 1024 <= end) pages = 1024;
            MappingRow row{pool, page, behind, pages, size, true};
            bool found = below(3) != 0 && free(row, step);
            for (int tries = 0; tries < 8 && !found; ++tries) {
                row.frame = below(frames / 512) * 512 + (below(2) ? page % 512 : step == 1 ? below(512) : 0);
                found = free(row, step);
            }
            if (!found || below(10) == 0) row.mapped = false, row.size = PageSize::small_4kb, row.frame = 0;
            if (row.mapped || !epochs.empty()) epoch.rows.push_back(row);
            for (uint64_t i = 0; row.mapped && i < pages; ++i) {
                used_[row.frame + i] = true;
                epoch.pages[{pool, page + i}] = {row.frame + i, row.size};
            }
            page += pages, behind = row.frame + pages;
        }
    }

    bool free(const MappingRow& row, uint64_t step) const {
        if (row.frame % step || row.frame + row.pages > frames) return false;
        for (uint64_t i = 0; i < row.pages; ++i)
            if (used_[row.frame + i]) return false;
        return true;
    }

    std::mt19937_64 random_;
    uint64_t pages_;
    std::vector<bool> used_;
};

}  // namespace tessera::sim::testing
