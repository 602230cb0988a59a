// random_mappings.h - mappings made in memory: of given rows, and random ones over the whole pools of RandomInputs.
#pragma once

#include <memory>
#include <random>

#include "os/mapping.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {

inline MappingRow heap_row(uint64_t page, uint64_t frame, uint64_t pages, PageSize size = PageSize::small_4kb) {
    return {trace::PoolKind::heap, page, frame, pages, size};
}

/// The rows hold from the start on; sorted and disjoint, as in a file.
inline Layout mapping_of_rows(std::vector<MappingRow> rows) {
    return layout_of(std::make_shared<const Mapping>(Mapping{"rows", {{0, std::move(rows)}}}));
}

/// Chunks of 1 to 512 pages, most of them of 1 to 16, where streams of RandomInputs touch most; larger ones behind. About
/// half the chunks have frames aligned as their pages, so 2MB pages fit. No mapping has more than 2,048 chunks.
class RandomMappings {
public:
    explicit RandomMappings(uint64_t seed) : random_(seed * 6007 + 11) {}

    /// All pages of both pools. Epochs begin at equal distances in `accesses`; later ones move whole 2MB regions to new frames.
    Layout mapping(const std::string& name, size_t epochs, uint64_t accesses) {
        Mapping made{name, {}};
        next_frame_ = below(1000);
        for (size_t e = 0; e < epochs; ++e) {
            MappingEpoch epoch{accesses * e / epochs, {}};
            for (trace::PoolKind pool : {trace::PoolKind::heap, trace::PoolKind::anon}) {
                if (e == 0) fill(pool, 0, pool_pages, epoch.rows);
                else move(pool, epoch.rows);
            }
            made.epochs.push_back(std::move(epoch));
        }
        return layout_of(std::make_shared<const Mapping>(std::move(made)));
    }

private:
    static constexpr uint64_t pool_pages = uint64_t{1} << 20, hot_pages = 8192, large = 512;

    uint64_t below(uint64_t n) { return random_() % n; }

    void move(trace::PoolKind pool, std::vector<MappingRow>& rows) {
        for (uint64_t page = below(4) * large; page < 2 * hot_pages;) {
            const uint64_t pages = (1 + below(3)) * large;
            fill(pool, page, page + pages, rows);
            page += pages + (1 + below(8)) * large;
        }
    }

    void fill(trace::PoolKind pool, uint64_t page, uint64_t end, std::vector<MappingRow>& rows) {
        while (page < end) {
            const uint64_t most = page >= hot_pages ? 65536 : below(6) ? 16 : 512;
            const uint64_t pages = std::min(1 + below(most), end - page);
            add_chunk(pool, page, pages, rows);
            page += pages;
        }
    }

    void add_chunk(trace::PoolKind pool, uint64_t page, uint64_t pages, std::vector<MappingRow>& rows) {
        uint64_t frame = next_frame_ + 1 + below(3);  // a gap, so that chunks do not merge
        const bool aligned = below(2) == 0;
        if (aligned) frame += (page - frame) % large;
        next_frame_ = frame + pages;
        const uint64_t head = std::min((large - page % large) % large, pages);
        const uint64_t middle = aligned && below(4) ? (pages - head) / large * large : 0;
        const auto add = [&](uint64_t from, uint64_t count, PageSize size) {
            if (count != 0) rows.push_back({pool, page + from, frame + from, count, size});
        };
        if (middle == 0) return add(0, pages, PageSize::small_4kb);
        add(0, head, PageSize::small_4kb);
        add(head, middle, PageSize::large_2mb);
        add(head + middle, pages - head - middle, PageSize::small_4kb);
    }

    std::mt19937_64 random_;
    uint64_t next_frame_ = 0;
};

}  // namespace tessera::sim::testing
