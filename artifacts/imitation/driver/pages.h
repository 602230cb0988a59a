// pages.h - the pages of a program at one moment, from the records of a log.
#pragma once

#include <array>
#include <vector>

#include "tessera/os/log.h"

namespace tessera::os {

class Pages {
public:
    struct Page {
        uint64_t frame = 0;
        bool mapped = false, large = false;
        bool operator==(const Page &) const = default;
    };
    struct Totals {
        uint64_t small = 0, zero = 0, large = 0;  ///< mapped pages of 4KB (zero: of zeros), of 2MB (1GB: 512 of them)
    };

    void apply(const Record &r) {
        switch (r.kind) {
            case Kind::map:
            case Kind::collapse:
                for (uint64_t i = 0; i < r.pages; ++i) set(r.pool, r.page + i, {r.frame + i, true, r.large || r.kind == Kind::collapse});
                break;
            case Kind::unmap:
                for (uint64_t i = 0, end = std::min(r.pages, known(r.pool, r.page)); i < end; ++i) set(r.pool, r.page + i, {});
                break;
            case Kind::split:
                for (uint64_t i = 0; i < r.pages; ++i)
                    set(r.pool, r.page + i, {r.frame == zero_frame ? zero_frame : r.frame + i, true, false});
                break;
            default: break;
        }
    }
    Totals totals() const { return {small_, zero_, large_ / 512}; }
    const std::vector<Page> &pool(uint8_t kind) const { return pages_[kind]; }

private:
    /// Pages of the pool from `page` on that were ever mapped.
    uint64_t known(uint8_t pool, uint64_t page) const { return pages_[pool].size() > page ? pages_[pool].size() - page : 0; }
    void count(const Page &page, int64_t by) {
        if (!page.mapped) return;
        uint64_t &total = page.large ? large_ : page.frame == zero_frame ? zero_ : small_;
        total += static_cast<uint64_t>(by);
    }
    void set(uint8_t pool, uint64_t number, Page page) {
        std::vector<Page> &all = pages_[pool];
        if (number >= all.size()) all.resize(std::max<uint64_t>(number + 1, all.size() * 3 / 2));
        count(all[number], -1);
        count(page, 1);
        all[number] = page;
    }
    std::array<std::vector<Page>, most_pools> pages_;
    uint64_t small_ = 0, zero_ = 0, large_ = 0;
};

}  // namespace tessera::os
