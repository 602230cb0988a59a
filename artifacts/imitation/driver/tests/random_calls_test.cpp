// Random programs: the records of the log, applied one after the other, give the page table of the imitation, with the frames of its tables,
// and its areas, after each call.
#include <random>

#include "driver/kernel.h"
#include "driver/pages.h"
#include "programs.h"

extern "C" {
#include "vm/check.h"
extern const vm_policy eager;
}

namespace tests {
namespace {

constexpr uint64_t first = anon_base >> 12;

trace::Event random_call(std::mt19937_64 &random, uint64_t pages) {
    trace::Event event;
    const uint64_t unit = random() % 3 ? 4096 : 2 * mb;
    event.offset_bytes = random() % (pages * 4096 / unit) * unit;
    event.length_bytes = std::min((1 + random() % (8 * mb / unit)) * unit, pages * 4096 - event.offset_bytes);
    event.kind = random() % 3 == 0 ? EventKind::map : static_cast<EventKind>(random() % 5);
    event.protection = random() % 4 == 0 ? 1 : 3;
    event.flags = event.kind == EventKind::map      ? 0x22
                  : event.kind == EventKind::advise ? (const uint32_t[]){4, 14, 15, 3}[random() % 4]
                                                    : 0;
    event.new_pool = EventPool::anon;
    if (event.kind != EventKind::remap) return event;
    event.new_length_bytes = random() % 2 ? event.length_bytes : (1 + random() % 512) * 4096;
    event.new_offset_bytes = random() % 4 == 0 ? event.offset_bytes : random() % pages * 4096 / unit * unit;
    if (event.new_offset_bytes + event.new_length_bytes > pages * 4096) event.new_length_bytes = pages * 4096 - event.new_offset_bytes;
    return event;
}

bool covered(::process &process, uint64_t page, uint64_t end) {
    while (page < end) {
        const area *area = areas_at(&process.areas, page);
        if (area == nullptr) return false;
        page = area->end;
    }
    return true;
}

/// Whether Linux accepts the call: ranges without holes, moves of one area without overlap.
bool valid(::process &process, const trace::Event &event) {
    const uint64_t page = first + (event.offset_bytes >> 12), end = page + (event.length_bytes >> 12);
    if (event.kind == EventKind::map || event.kind == EventKind::unmap) return true;
    if (event.kind != EventKind::remap) return covered(process, page, end);
    const area *area = areas_at(&process.areas, page);
    const uint64_t to = first + (event.new_offset_bytes >> 12), to_end = to + (event.new_length_bytes >> 12);
    if (area == nullptr || area->end < end) return false;
    if (to != page) return end <= to || to_end <= page;
    return to_end <= end || (area->end == end && areas_free(&process.areas, end, to_end));
}

std::vector<uint32_t> path_of(const ::process &process, uint64_t page) {
    std::vector<uint32_t> frames;
    const pt_table *table = process.pt.root;
    for (unsigned level = PT_TOP;; --level) {
        frames.push_back(table->frame);
        const pt_entry entry = table->slot[pt_index(page, level)];
        if (level == 0 || !pt_is_table(entry)) return frames;
        table = pt_below(entry);
    }
}

/// What is mapped of the program's pages, as records should tell it.
std::vector<os::Pages::Page> mapped_pages(const ::process &process, uint64_t pages) {
    std::vector<os::Pages::Page> all(pages);
    for (uint64_t page = 0; page < pages; ++page) {
        unsigned level = 0;
        const pt_entry *slot = pt_find(&process.pt, first + page, &level);
        if (slot == nullptr || !pt_present(*slot)) continue;
        all[page] = {level == 1 ? pt_value(*slot) + page % 512 : *slot & PT_ZERO ? os::zero_frame : pt_value(*slot), true, level == 1};
    }
    return all;
}

/// A program of `pages` pages, with a call each so many accesses. `sums`: pages to swap, from swap, moved by
/// compaction.
void run_random(uint64_t seed, const os::Scenario &under, size_t steps, std::array<uint64_t, 3> &sums, uint64_t pages = 16 * 512,
                uint64_t calls_every = 100) {
    std::mt19937_64 random(seed);
    os::Machine machine(under);
    const std::string path = scratch("log");
    os::Header header;
    header.pools = {{0, heap_base, gb}, {1, anon_base, gb}};
    os::Writer log(path, header);
    const os::Places places(pools_of(), {});
    os::Kernel kernel(under, machine, places, log);
    os::At at;
    size_t accesses = 0, calls = 0;
    std::vector<LiveAreas> areas_after;  // of each call
    std::map<uint64_t, std::vector<os::Pages::Page>> mapped_before;  // access -> pages
    const auto call = [&](const trace::Event &event) {
        kernel.calls.call(at, event);
        LiveAreas &areas = areas_after.emplace_back();
        for (size_t i = 0; i < machine.process.areas.count; ++i) {
            const area &one = machine.process.areas.item[i];
            areas[one.start - first] = {one.end - one.start, one.flags};
        }
    };
    call({0, EventKind::map, EventPool::anon, {}, 0, pages * 4096, 0, 0, 3, 0x22, 0, 0});
    for (size_t i = 0; i < steps; ++i) {
        const uint64_t address = anon_base + random() % (pages * 4096);
        const bool store = random() % 2;
        if (random() % calls_every == 0)
            if (const trace::Event event = random_call(random, pages); valid(machine.process, event)) call(event), ++calls;
        if (random() % 50 == 0) kernel.timers.run(at, kernel.timers.next());
        const auto allows = [&](uint64_t page) {
            const area *area = areas_at(&machine.process.areas, page);
            return area != nullptr && area->flags & (store ? uint32_t{AREA_WRITE} : uint32_t{AREA_RIGHTS});
        };
        const bool allowed = allows(address >> 12), two = random() % 8 == 0 && allows((address >> 12) + 1);
        const bool fast = kernel.recorder.rights().allow(address, store);
        ASSERT_TRUE(allowed || !fast) << "the fast path allows an access that the program may not make";
        if (allowed && fast) {
            const fault found = fault_access(&machine.process, address >> 12, store, 0, FAULT_FIRST);
            ASSERT_EQ(found.kind, FAULT_NONE) << "the fast path hides a fault";
        }
        const uint64_t swapped = machine.process.swapped_pages;
        if (allowed && two) kernel.accesses.access_two(at, address >> 12, store, 0), ++accesses;
        else if (allowed && !fast) kernel.accesses.access(at, address >> 12, store, 0, false), ++accesses;
        ++at.block, ++at.access;
        if (i % (steps / 8) == 0 || machine.process.swapped_pages + 1 < swapped)
            mapped_before[at.access] = mapped_pages(machine.process, pages);
    }
    mapped_before[at.access + 1] = mapped_pages(machine.process, pages);
    sums[0] += machine.system.swap.counts.pswpout;
    sums[1] += machine.system.swap.counts.pswpin;
    sums[2] += machine.system.compact.counts.pgmigrate_success;
    ::process *only = &machine.process;
    ASSERT_STREQ(vm_check(&machine.system, &only, 1), nullptr) << seed;
    log.finish();
    os::Pages replayed;
    std::map<std::pair<unsigned, uint64_t>, uint32_t> tables;  // level, number of the table -> frame
    LiveAreas areas;
    size_t calls_done = 0;
    auto next = mapped_before.begin();
    const auto compare = [&] {
        std::vector<os::Pages::Page> found = replayed.pool(1);
        found.resize(pages);
        ASSERT_TRUE(found == next->second) << "seed " << seed << ", access " << next->first;
        ++next;
    };
    for (const os::Record &record : records_of(path)) {
        while (next->first <= record.access) ASSERT_NO_FATAL_FAILURE(compare());
        apply(record, areas);
        if (record.kind == os::Kind::call) {
            ASSERT_EQ(areas, areas_after.at(calls_done)) << "seed " << seed << ", call " << calls_done;
            ++calls_done;
        }
        replayed.apply(record);
        for (unsigned i = 0; i < record.tables.size(); ++i) tables[{i, (first + record.page) >> (9 * (4 - i))}] = record.tables[i];
    }
    EXPECT_EQ(calls_done, areas_after.size());
    while (next != mapped_before.end()) ASSERT_NO_FATAL_FAILURE(compare());
    uint64_t mapped = 0;
    const auto &at_end = mapped_before.rbegin()->second;
    for (uint64_t page = 0; page < pages; ++page) {
        if (!at_end[page].mapped) continue;
        ++mapped;
        const auto path_frames = path_of(machine.process, first + page);
        for (unsigned i = 0; i < path_frames.size(); ++i) {
            const auto entry = std::make_pair(i, (first + page) >> (9 * (4 - i)));
            ASSERT_EQ(tables[entry], path_frames[i]) << "seed " << seed << ", page " << page << ", table " << i;
        }
    }
    EXPECT_GT(mapped, 0u);
    EXPECT_GT(accesses, 100u);
    EXPECT_GT(calls, 20u);
    std::filesystem::remove(path);
}

std::map<std::string, std::string> pressure(uint64_t seed) {
    std::map<std::string, std::string> changes = {{"time.frequency_hz", "1000"}, {"thp.khugepaged.scan_sleep_milliseconds", "100"}};
    changes["memory_bytes"] = std::to_string((20 + seed % 3 * 4) * mb);  // the program touches up to 96MB
    changes["swap.bytes"] = std::to_string(128 * mb);
    changes["swap.synchronous"] = seed % 2 ? "1" : "0";
    changes["thp.enabled"] = (const char *[]){"always", "never", "madvise"}[seed % 3];
    changes["thp.defrag"] = (const char *[]){"always", "madvise", "defer", "never"}[seed % 4];
    changes["disk.model"] = seed % 2 ? "flash" : "constant";
    changes["slab.areas"] = seed % 5 == 0 ? "1" : "0";
    changes["page_cache.other_bytes"] = seed % 3 ? "0" : "16777216";
    changes["hugetlb.pages_2mb"] = seed % 7 == 0 ? "2" : "0";
    if (seed % 4 == 1) {
        changes["fragmentation.index"] = "unusable-index", changes["fragmentation.target_thousandths"] = "900";
        changes["fragmentation.tolerance_thousandths"] = "300", changes["fragmentation.movable_share_thousandths"] = "500";
        changes["memory_bytes"] = std::to_string(40 * mb);
    }
    return changes;
}

TEST(RandomCalls, TheLogGivesThePageTableUnderPressure) {
    std::array<uint64_t, 3> sums{};
    for (uint64_t seed = 0; seed < 24; ++seed) {
        run_random(seed, scenario(pressure(seed)), 40000, sums, 48 * 512, 1000);
        if (HasFatalFailure()) return;
    }
    for (const uint64_t sum : sums) EXPECT_GT(sum, 5000u);
}

TEST(RandomCalls, TheLogGivesThePageTable) {
    std::array<uint64_t, 3> sums{};
    for (uint64_t seed = 0; seed < 30; ++seed) {
        std::map<std::string, std::string> changes = {{"time.frequency_hz", "1000"}, {"thp.khugepaged.scan_sleep_milliseconds", "100"}};
        changes["thp.enabled"] = (const char *[]){"always", "madvise", "never"}[seed % 3];
        changes["thp.use_zero_page"] = seed % 2 ? "0" : "1";
        if (seed % 5 == 0) changes["fragmentation.index"] = "unusable-index", changes["fragmentation.target_thousandths"] = "990";
        run_random(seed, scenario(changes), 20000, sums);
        if (HasFatalFailure()) return;
    }
}

// Pages that a policy places have no fault: their records are the only ones that tell them.
TEST(RandomCalls, TheLogGivesThePageTableOfEagerPaging) {
    std::array<uint64_t, 3> sums{};
    for (uint64_t seed = 0; seed < 12; ++seed) {
        os::Scenario under = scenario(seed % 2 ? pressure(seed) : std::map<std::string, std::string>{});
        under.policy = &eager;
        run_random(seed, under, 10000, sums, 48 * 512);
        if (HasFatalFailure()) return;
    }
    EXPECT_GT(sums[0], 1000u);
}

}  // namespace
}  // namespace tests
