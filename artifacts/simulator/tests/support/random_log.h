// random_log.h - a random program under a random operating system: a stream, and the log that belongs to it.
//
// Before each access, pages may be mapped (4KB, 2MB, zeros), unmapped, split, collapsed or moved, and areas may get other rights; the
// pages of the access are mapped. Frames are those of a counter, so no two pages share one, except pages of zeros. `state` is the page
// table at the end, kept page by page.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "os/os_log.h"
#include "support/synthetic.h"
#include "tessera/os/log.h"

namespace tessera::sim::testing {

inline os::Header log_header(const trace::Header& of) {
    os::Header header;
    header.scenario = "random";
    header.trace_checksum = of.checksum;
    for (const trace::Pool& pool : of.pools) header.pools.push_back({static_cast<uint8_t>(pool.kind), pool.base, pool.size_bytes});
    return header;
}

/// A log of the trace as a layout, by way of a file.
inline Layout log_layout(const trace::Header& of, const std::vector<os::Record>& records) {
    const auto path = std::filesystem::temp_directory_path() / ("random-log-" + std::to_string(getpid()) + ".oslog");
    os::Writer writer(path.string(), log_header(of));
    for (const os::Record& record : records) writer.add(record);
    writer.finish();
    Layout found = layout_of(std::make_shared<Mapping>(read_os_log(path.string(), of)));
    std::filesystem::remove(path);
    return found;
}

class RandomLog {
public:
    static constexpr uint64_t pages = 8 * 512;  ///< of each pool
    struct Page {
        uint64_t frame;
        bool large;
        bool operator==(const Page&) const = default;
    };
    using State = std::map<std::pair<unsigned, uint64_t>, Page>;  ///< pool and page -> what maps it

    explicit RandomLog(uint64_t seed) : random_(seed) {}

    /// Makes `accesses` accesses; `seen(access, state)` is called after the changes before each access.
    template <class Seen>
    void make(size_t accesses, Seen&& seen) {
        const uint32_t load = builder_.block({insn(trace::InsnKind::load, 0, reg(1), reg(2), 1)}, {{0, 0, 8}});
        const uint32_t store = builder_.block({insn(trace::InsnKind::store, reg(1), 0, reg(2), 1)}, {{0, 1, 8}});
        for (const unsigned pool : {0u, 1u}) add_area(trace::EventKind::map, pool, 0, pages, 3);
        for (access_ = 0; access_ < accesses; ++access_) {
            if (random_() % 60 == 0) change_area();
            if (random_() % 40 == 0) change();
            const unsigned pool = random_() % 2;
            if (random_() % 4 == 0) recent_[pool] = random_() % pages;
            const uint64_t page = recent_[pool];
            if (!state_.contains({pool, page})) fault(pool, page);
            const bool is_store = random_() % 2;
            const uint64_t base = pool == 0 ? heap_base : anon_base;
            uint64_t offset = random_() % 512 * 8;
            if (page + 1 < pages && random_() % 8 == 0) {  // the access goes on in the next page
                offset = 4089 + random_() % 7;
                if (!state_.contains({pool, page + 1})) fault(pool, page + 1);
            }
            builder_.run(is_store ? store : load, {base + page * 4096 + offset}, {is_store});
            seen(access_, state_);
        }
    }
    void make(size_t accesses) {
        make(accesses, [](size_t, const State&) {});
    }

    MemoryStream stream() { return builder_.finish(); }
    const std::vector<os::Record>& records() const { return records_; }
    const State& state() const { return state_; }

    Layout layout(const trace::Header& of) const { return log_layout(of, records_); }

private:
    os::Record record(os::Kind kind, unsigned pool, uint64_t page, uint64_t count, uint64_t frame) {
        os::Record r{access_, access_, kind};
        r.pool = static_cast<uint8_t>(pool), r.page = page, r.pages = count, r.frame = frame;
        return r;
    }
    /// Tables of the page. A region of 2MB that gets a table again gets the same frame.
    std::vector<uint32_t> tables(unsigned pool, uint64_t page, bool large) {
        std::vector<uint32_t> found = {9, 20, 30 + pool};  // both pools lie in the first 512GB
        if (!large) found.push_back(static_cast<uint32_t>(1000 + 16 * pool + page / 512));
        return found;
    }
    /// What a fault names: nothing, unless it allocated a table.
    std::vector<uint32_t> new_tables(unsigned pool, uint64_t page, bool large) {
        const std::vector<uint32_t> found = tables(pool, page, large);
        if (large) tables_.erase(tables(pool, page, false).back());
        const size_t before = tables_.size();
        tables_.insert(found.begin(), found.end());
        return tables_.size() > before ? found : std::vector<uint32_t>();
    }
    uint64_t fresh(uint64_t count) {
        const uint64_t at = count == 512 ? (next_frame_ + 511) / 512 * 512 : next_frame_ + random_() % 2;
        next_frame_ = at + count;
        return at;
    }
    bool region_empty(unsigned pool, uint64_t page) const {
        const auto found = state_.lower_bound({pool, page & ~uint64_t{511}});
        return found == state_.end() || found->first.first != pool || found->first.second > (page | 511);
    }
    void set(unsigned pool, uint64_t page, uint64_t count, uint64_t frame, bool large, bool consecutive = true) {
        for (uint64_t i = 0; i < count; ++i) state_[{pool, page + i}] = {frame + (consecutive ? i : 0), large};
    }
    void fault(unsigned pool, uint64_t page) {
        const bool large = region_empty(pool, page) && random_() % 2, zero = !large && random_() % 4 == 0;
        const uint64_t first = large ? page & ~uint64_t{511} : page, count = large ? 512 : 1, frame = zero ? os::zero_frame : fresh(count);
        os::Record r = record(os::Kind::map, pool, first, count, frame);
        r.cause = static_cast<uint8_t>(zero ? os::Cause::zero : os::Cause::page);
        r.large = large;
        r.tables = new_tables(pool, page, large);
        records_.push_back(r);
        set(pool, first, count, frame, large);
    }
    void split(unsigned pool, uint64_t page) {
        const auto found = state_.find({pool, page});
        if (found == state_.end() || !found->second.large) return;
        const uint64_t first = page & ~uint64_t{511}, frame = state_.at({pool, first}).frame;
        os::Record r = record(os::Kind::split, pool, first, 512, frame);
        r.tables = tables(pool, page, false);
        tables_.insert(r.tables.back());
        records_.push_back(r);
        set(pool, first, 512, frame, false);
    }
    void add_area(trace::EventKind call, unsigned pool, uint64_t page, uint64_t count, uint64_t flags) {
        for (const os::Kind kind : {os::Kind::call_begin, os::Kind::area_live, os::Kind::call}) {
            os::Record r = record(kind, pool, page, count, flags);
            if (kind != os::Kind::area_live) r.cause = static_cast<uint8_t>(call);
            records_.push_back(r);
        }
    }
    /// mprotect of a part of a pool.
    void change_area() {
        const uint64_t page = random_() % pages;
        add_area(trace::EventKind::protect, random_() % 2, page, 1 + random_() % (pages - page), 1 + random_() % 7);
    }
    void change() {
        const unsigned pool = random_() % 2;
        const uint64_t page = random_() % pages;
        switch (random_() % 4) {
            case 0: split(pool, page); break;
            case 1: {  // unmap, after a split of what it cuts
                const uint64_t end = std::min(pages, page + 1 + random_() % 700);
                if (page % 512 != 0) split(pool, page);
                if (end % 512 != 0) split(pool, end);
                records_.push_back(record(os::Kind::unmap, pool, page, end - page, 0));
                state_.erase(state_.lower_bound({pool, page}), state_.lower_bound({pool, end}));
                break;
            }
            case 2: {  // collapse
                const uint64_t first = page & ~uint64_t{511}, frame = fresh(512);
                if (region_empty(pool, page) || (state_.contains({pool, first}) && state_.at({pool, first}).large)) break;
                os::Record r = record(os::Kind::collapse, pool, first, 512, frame);
                r.large = true;
                tables_.erase(tables(pool, page, false).back());
                records_.push_back(r);
                set(pool, first, 512, frame, true);
                break;
            }
            default:
                if (const auto found = state_.find({pool, page}); found != state_.end() && !found->second.large) {  // a copy
                    const uint64_t frame = fresh(1), before = found->second.frame;
                    os::Record r = record(os::Kind::map, pool, page, 1, frame);
                    r.cause = static_cast<uint8_t>(os::Cause::copy);
                    records_.push_back(r);
                    if (before != os::zero_frame) records_.push_back(record(os::Kind::source, pool, page, 1, before));
                    set(pool, page, 1, frame, false);
                }
        }
    }

    std::mt19937_64 random_;
    StreamBuilder builder_;
    std::vector<os::Record> records_;
    State state_;
    std::set<uint32_t> tables_;  ///< that exist
    uint64_t access_ = 0, next_frame_ = 5000;
    std::array<uint64_t, 2> recent_{};
};

}  // namespace tessera::sim::testing
