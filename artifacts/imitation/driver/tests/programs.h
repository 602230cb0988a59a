// programs.h - small programs as traces with events, and scenarios, for the tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "driver/counters.h"
#include "driver/pages.h"
#include "driver/refusal.h"
#include "driver/run.h"

namespace tests {

using namespace tessera;
using trace::EventKind;
using trace::EventPool;

constexpr uint64_t mb = 1 << 20, gb = uint64_t{1} << 30, heap_base = 64 * gb, anon_base = 128 * gb, file_base = 256 * gb,
                   outside_base = 512 * gb;

inline std::string scratch(const std::string &name) {
    static int number = 0;
    return (std::filesystem::temp_directory_path() / ("os-test-" + std::to_string(getpid()) + "-" + std::to_string(number++) + "-" + name))
        .string();
}

inline std::vector<trace::Pool> pools_of(uint64_t bytes = gb) {
    return {{trace::PoolKind::heap, heap_base, bytes, bytes}, {trace::PoolKind::anon, anon_base, bytes, bytes}};
}

/// A program: accesses of 8 bytes, one a block of one instruction, and calls between them.
class Program {
public:
    explicit Program(std::vector<trace::Pool> pools = pools_of()) : pools_(std::move(pools)) {}
    Program &store(uint64_t offset, uint64_t base = anon_base) { return access(base + offset, 1); }
    Program &load(uint64_t offset, uint64_t base = anon_base) { return access(base + offset, 0); }
    Program &access(uint64_t address, uint8_t is_store) {
        accesses_.push_back({address, is_store});
        return *this;
    }
    Program &call(EventKind kind, uint64_t offset, uint64_t length, uint32_t protection = 0, uint32_t flags = 0,
                  EventPool pool = EventPool::anon) {
        return call({0, kind, pool, {}, offset, length, 0, 0, protection, flags, 0, 0});
    }
    Program &call(trace::Event event) {
        event.block = accesses_.size() - joined_;
        events_.list.push_back(event);
        return *this;
    }
    Program &map(uint64_t offset, uint64_t length, uint32_t flags = 0x22) { return call(EventKind::map, offset, length, 3, flags); }

    /// One block with an access to each of `count` pages.
    Program &burst(uint64_t offset, uint64_t count, uint8_t is_store) {
        for (uint64_t i = 0; i < count; ++i)
            accesses_.push_back({anon_base + offset + i * 4096, static_cast<uint8_t>(is_store | (i > 0 ? joined : 0))});
        joined_ += count - 1;
        return *this;
    }
    /// A file of the pool of files, and a mapping of it.
    Program &file(uint64_t bytes) {
        events_.files.push_back({"file-" + std::to_string(events_.files.size() + 1), bytes});
        events_.file_pool_base = file_base, events_.file_pool_bytes = gb;
        return *this;
    }
    Program &map_file(uint32_t number, uint64_t offset, uint64_t length, uint32_t protection = 1, uint32_t flags = 2) {
        return call({0, EventKind::map, EventPool::file, {}, offset, length, 0, 0, protection, flags, number, 0});
    }
    const std::vector<std::pair<uint64_t, uint8_t>> &accesses() const { return accesses_; }

    /// A string instruction that fills its first line. The slot has the size of a line, as the recorder writes it.
    Program &fill(uint64_t offset) { return access(anon_base + offset, fills); }

    /// One instruction that loads and stores.
    Program &update(uint64_t offset) {
        access(anon_base + offset, 2);
        return *this;
    }

    std::string write(bool with_events = true) const {
        const std::string path = scratch("program.tst");
        trace::Writer writer = trace::Writer::create(path);
        trace::StaticBlock block{0x400000, {{0, 0, 0, trace::InsnKind::store, 1, 4}}, {{0, 1, 8}}};
        const uint32_t id = writer.add_block(block);
        const uint32_t both = writer.add_block({0x400100, {{0, 0, 0, trace::InsnKind::load_store, 2, 4}}, {{0, 0, 8}, {0, 1, 8}}});
        const trace::StaticInsn string{0, 0, 0, trace::InsnKind::store, 1, 2, 0, trace::BranchKind::none, trace::StringPart::begin};
        const uint32_t fill = writer.add_block({0x400200, {string}, {{0, 1, trace::string_line_bytes}}});
        for (size_t i = 0, next; i < accesses_.size(); i = next) {
            next = i + 1;
            const auto &[address, kind] = accesses_[i];
            if (kind == fills) {
                const uint8_t store = 1;
                writer.append(fill, &address, &store, 1);
                continue;
            }
            if (kind == 2) {
                const uint64_t twice[] = {address, address};
                const uint8_t stores[] = {0, 1};
                writer.append(both, twice, stores, 2);
                continue;
            }
            std::vector<uint64_t> addresses = {address};
            for (; next < accesses_.size() && accesses_[next].second & joined; ++next) addresses.push_back(accesses_[next].first);
            writer.append(id, addresses.data(), std::vector<uint8_t>(addresses.size(), kind).data(),
                          static_cast<uint16_t>(addresses.size()));
        }
        if (with_events) writer.set_events(events_);
        trace::Header header;
        header.program = "test", header.origin = "test", header.pools = pools_;
        writer.finish(header);
        return path;
    }

private:
    std::vector<trace::Pool> pools_;
    static constexpr uint8_t fills = 3, joined = 4;
    std::vector<std::pair<uint64_t, uint8_t>>
        accesses_;  ///< address; 0 load, 1 store, 2 both, fills; + joined: in the block of the one before
    size_t joined_ = 0;
    trace::Events events_;
};

inline std::string scenario_text(std::map<std::string, std::string> changes = {}) {
    std::map<std::string, std::string> keys = {{"name", "test"},
                                               {"memory_bytes", "1073741824"},
                                               {"policy", "linux-6.12"},
                                               {"fragmentation.index", "none"},
                                               {"fragmentation.order", "9"},
                                               {"fragmentation.target_thousandths", "500"},
                                               {"fragmentation.tolerance_thousandths", "5"},
                                               {"fragmentation.movable_share_thousandths", "0"},
                                               {"fragmentation.seed", "1"},
                                               {"thp.enabled", "always"},
                                               {"thp.defrag", "madvise"},
                                               {"thp.use_zero_page", "1"},
                                               {"thp.khugepaged.defrag", "1"},
                                               {"thp.khugepaged.max_ptes_none", "511"},
                                               {"thp.khugepaged.max_ptes_swap", "64"},
                                               {"thp.khugepaged.max_ptes_shared", "256"},
                                               {"thp.khugepaged.pages_to_scan", "4096"},
                                               {"thp.khugepaged.scan_sleep_milliseconds", "10000"},
                                               {"swap.bytes", "0"},
                                               {"swap.synchronous", "0"},
                                               {"swap.page_cluster", "3"},
                                               {"reclaim.swappiness", "60"},
                                               {"compaction.proactive", "1"},
                                               {"page_cache.at_start", "none"},
                                               {"page_cache.other_bytes", "0"},
                                               {"hugetlb.pages_2mb", "0"},
                                               {"hugetlb.pages_1gb", "0"},
                                               {"slab.areas", "0"},
                                               {"disk.model", "constant"},
                                               {"time.frequency_hz", "2000000000"},
                                               {"time.instructions_per_1000_cycles", "1000"}};
    for (const auto &[key, value] : changes) keys[key] = value;
    std::string text;
    for (const auto &[key, value] : keys)
        if (value != "-") text += key + " = " + value + "\n";
    return text;
}

inline os::Scenario scenario(std::map<std::string, std::string> changes = {}) {
    return os::parse_scenario(scenario_text(std::move(changes)), "test");
}

inline std::vector<os::Record> records_of(const std::string &log) {
    os::Reader reader(log);
    std::vector<os::Record> found;
    for (os::Record record; reader.next(record);) found.push_back(record);
    return found;
}

/// Areas as records make them: first page -> pages, flags.
using LiveAreas = std::map<uint64_t, std::pair<uint64_t, uint64_t>>;

inline void apply(const os::Record &r, LiveAreas &areas) {
    if (r.kind != os::Kind::area_live && r.kind != os::Kind::area_gone) return;
    LiveAreas kept;
    for (const auto &[page, one] : areas) {
        if (page < r.page) kept[page] = {std::min(page + one.first, r.page) - page, one.second};
        if (const uint64_t end = page + one.first, from = std::max(page, r.page + r.pages); end > from)
            kept[from] = {end - from, one.second};
    }
    if (r.kind == os::Kind::area_live) kept[r.page] = {r.pages, r.frame};
    areas = std::move(kept);
}

struct Ran {
    os::Header header;
    os::RunResult result;
    std::vector<os::Record> all, changes;  ///< all records; those that are neither calls nor areas
};

inline Ran ran(const Program &program, const os::Scenario &under) {
    const std::string trace = program.write(), log = scratch("log");
    Ran found{{}, os::run(trace, under, log), records_of(log), {}};
    found.header = os::Reader(log).header();
    for (const os::Record &record : found.all)
        if (record.changes_pages() || record.kind == os::Kind::upgrade) found.changes.push_back(record);
    std::filesystem::remove(trace);
    std::filesystem::remove(log);
    return found;
}

inline uint64_t counter(const Ran &of, const std::string &name) {
    const auto &names = os::counter_names();
    const auto number = static_cast<uint64_t>(std::find(names.begin(), names.end(), name) - names.begin());
    for (const os::Record &record : of.all)
        if (record.kind == os::Kind::count && record.page == number) return record.frame;
    ADD_FAILURE() << name;
    return 0;
}

inline uint64_t count_of(const Ran &of, os::Kind kind, os::Cause cause) {
    return static_cast<uint64_t>(std::count_if(
        of.all.begin(), of.all.end(), [&](const os::Record &r) { return r.kind == kind && r.cause == static_cast<uint8_t>(cause); }));
}

/// What the simulator relies on: with all records before each access applied, the pages of its first and last byte are mapped, and no two pages
/// have one frame. Not for programs with updates.
inline void expect_mapped(const Program &program, const Ran &of) {
    os::Pages pages;
    size_t next = 0;
    for (size_t i = 0; i < program.accesses().size(); ++i) {
        for (; next < of.all.size() && of.all[next].access <= i; ++next) pages.apply(of.all[next]);
        for (const os::Pool &pool : of.header.pools)
            for (const uint64_t byte : {0, 7}) {
                const uint64_t offset = program.accesses()[i].first + byte - pool.base;
                if (offset >= pool.size_bytes) continue;
                const auto &all = pages.pool(pool.kind);
                ASSERT_TRUE(offset / 4096 < all.size() && all[offset / 4096].mapped) << "access " << i << ", page " << offset / 4096;
            }
        if (i % 4096 != 0) continue;
        std::set<uint64_t> frames;
        for (const os::Pool &pool : of.header.pools)
            for (const os::Pages::Page &page : pages.pool(pool.kind))
                ASSERT_TRUE(!page.mapped || page.frame == os::zero_frame || frames.insert(page.frame).second) << "access " << i;
    }
    for (size_t i = 1; i < of.all.size(); ++i) ASSERT_LE(of.all[i - 1].access, of.all[i].access);
}

/// The message of the error, and its status in front.
template <class Work>
std::string refused(Work &&work) {
    try {
        work();
    } catch (const tessera::Error &refusal) {
        return std::to_string(refusal.exit_status()) + " " + refusal.what();
    }
    return "";
}

inline void expect_parts(const std::string &text, const std::vector<std::string> &parts) {
    for (const std::string &part : parts) EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

}  // namespace tests
