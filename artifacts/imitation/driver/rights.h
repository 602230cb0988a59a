// rights.h - which pages an access may use without the imitation: the fast path, one test for each access.
//
// A byte for each page of 4KB: bit 0: a load changes nothing (the page is present and young), bit 1: nor does a store (it is writable
// and dirty, too). The byte may lack a bit, never have one too many: then the imitation looks at the page. Tables cover 1GB each; all
// gigabytes without a pool share one table with both bits, because pages outside the pools are not modelled.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "driver/imitation.h"
#include "driver/places.h"
#include "driver/refusal.h"

namespace tessera::os {

class Rights {
public:
    static constexpr unsigned load = 1, store = 2;
    static constexpr uint64_t user_end = uint64_t{1} << 47;
    static constexpr uint64_t address_bits = 48, table_shift = 30, table_pages = uint64_t{1} << (table_shift - 12);

    explicit Rights(const Places &places) : outside_(table_pages, load | store), tables_(size_t{1} << (address_bits - table_shift)) {
        for (const Place &place : places.all()) {
            if (place.first_page >= user_end >> 12 || place.pages > (user_end >> 12) - place.first_page)
                throw Refusal("pools of the trace", "a pool does not lie on pages below address 2^47 [os/pool]",
                              "record the program with `tessera trace record`");
            for (uint64_t page = place.first_page, end = page + place.pages; page < end;) {
                const uint64_t stop = std::min(end, (page / table_pages + 1) * table_pages);
                std::memset(own_table(page) + page % table_pages, place.strict() ? 0 : load | store, stop - page);
                page = stop;
            }
        }
        for (uint8_t *&table : tables_)
            if (table == nullptr) table = outside_.data();
    }

    bool allow(uint64_t address, bool is_store) const {
        return (tables_[address >> table_shift & (tables_.size() - 1)][address >> 12 & (table_pages - 1)] & (1u << is_store)) != 0;
    }
    /// pre: [page, page + pages) lies in a place.
    void set(uint64_t page, uint64_t pages, unsigned rights) {
        each(page, pages, [rights](uint8_t *at, uint64_t count) {
            for (uint64_t i = 0; i < count; ++i) at[i] |= static_cast<uint8_t>(rights);
        });
    }
    /// What an entry allows, which maps [page, page + pages).
    void learn(uint64_t page, uint64_t pages, pt_entry entry) {
        if (pt_present(entry) && entry & PT_YOUNG) set(page, pages, load | ((entry & PT_WRITE) && (entry & PT_DIRTY) ? store : 0));
    }
    void clear(uint64_t page, uint64_t pages) {
        each(page, pages, [](uint8_t *at, uint64_t count) { std::memset(at, 0, count); });
    }

private:
    template <class Work>
    void each(uint64_t page, uint64_t pages, Work &&work) {
        for (const uint64_t end = page + pages; page < end;) {
            const uint64_t stop = std::min(end, (page / table_pages + 1) * table_pages);
            work(tables_[page / table_pages] + page % table_pages, stop - page);
            page = stop;
        }
    }
    uint8_t *own_table(uint64_t page) {
        uint8_t *&table = tables_[page / table_pages];
        if (table == nullptr) {
            own_.emplace_back(new uint8_t[table_pages]);
            table = own_.back().get();
            std::memset(table, load | store, table_pages);
        }
        return table;
    }

    std::vector<uint8_t> outside_;
    std::vector<std::unique_ptr<uint8_t[]>> own_;
    std::vector<uint8_t *> tables_;
};

}  // namespace tessera::os
