// The sink: changes of page tables and areas, applied one by one to a copy, give what the processes have. Random calls under memory pressure.
#include <gtest/gtest.h>

#include <set>

#include "pressure_support.h"

extern "C" {
#include "file/cache.h"
#include "vm/fork.h"
#include "vm/hugetlb.h"
#include "vm/policy.h"
extern const vm_policy eager;
}

using namespace tests;

namespace {

constexpr uint64_t at = 512 * 4000;

/// Mappings and swap entries of one page table by first page, as changes tell them.
struct Copy {
    std::map<uint64_t, std::pair<unsigned, pt_entry>> entries;  // level, entry
    std::map<uint64_t, std::pair<uint64_t, uint32_t>> areas;  // start -> end, flags

    void add_table(pt_entry entry, unsigned level, uint64_t page) {
        for (unsigned i = 0; i < PT_SLOTS; ++i) {
            const pt_entry below = pt_below(entry)->slot[i];
            if (pt_is_table(below)) add_table(below, level - 1, page + i * pt_slot_pages(level - 1));
            else if (below != 0) entries[page + i * pt_slot_pages(level - 1)] = {level - 1, below};
        }
    }
    void apply(const pt_change &change) {
        const auto first = entries.lower_bound(change.page), last = entries.lower_bound(change.page + pt_slot_pages(change.level));
        if (change.old != 0 && !pt_is_table(change.old)) {
            ASSERT_TRUE(entries.count(change.page)) << "an entry was written that no change told";
            ASSERT_EQ(entries[change.page], std::make_pair(change.level, change.old));
        }
        if (change.cause == PT_BY_TABLE) {
            ASSERT_EQ(std::distance(first, last), 0) << "a table with entries came or went";
            return;
        }
        entries.erase(first, last);
        if (pt_is_table(change.entry)) add_table(change.entry, change.level, change.page);
        else if (change.entry != 0) entries[change.page] = {change.level, change.entry};
    }
    void apply(const area_change &change) {
        std::map<uint64_t, std::pair<uint64_t, uint32_t>> kept;
        for (const auto &[start, one] : areas) {
            if (start < change.start) kept[start] = {std::min(one.first, change.start), one.second};
            if (one.first > change.end) kept[std::max(start, change.end)] = one;
        }
        if (change.area != nullptr) kept[change.start] = {change.end, change.area->flags};
        areas = std::move(kept);
    }
    void expect(const ::process &process) const {
        std::map<uint64_t, std::pair<uint64_t, uint32_t>> found;
        for (size_t i = 0; i < process.areas.count; ++i)
            found[process.areas.item[i].start] = {process.areas.item[i].end, process.areas.item[i].flags};
        ASSERT_EQ(areas, found);
        Copy whole;
        whole.add_table(pt_to_table(process.pt.root), PT_TOP + 1, 0);
        ASSERT_EQ(entries, whole.entries);
    }
};

struct Sink {
    explicit Sink(phys &memory) : memory(memory) {
        memory.events.context = this;
        memory.events.entry = [](void *self, const pt_change *change) {
            static_cast<Sink *>(self)->causes.insert(change->cause);
            static_cast<Sink *>(self)->copies[change->pt].apply(*change);
        };
        memory.events.area = [](void *self, const area_change *change) {
            const auto *process =
                reinterpret_cast<const ::process *>(reinterpret_cast<const char *>(change->areas) - offsetof(::process, areas));
            static_cast<Sink *>(self)->copies[&process->pt].apply(*change);
        };
    }
    ~Sink() { memory.events = {}; }
    phys &memory;
    std::map<const pt *, Copy> copies;
    std::set<pt_cause> causes;
};

struct Events : testing::TestWithParam<uint64_t> {};

TEST_P(Events, GiveTheTablesAndAreas) {
    uint64_t random = GetParam();
    const auto below = [&](uint64_t bound) { return random_below(&random, bound); };
    Pressure p(settings_of(THP_ALWAYS, static_cast<thp_defrag>(random % THP_DEFRAG_VALUES)), 32 * mib, 16384, random % 2);
    Sink sink(p.memory.p);
    ASSERT_EQ(file_open(&p.system.files, 1, 4 * mib, false), nullptr);
    ::process child{};
    bool forked = false;
    for (int step = 0; step < 500; ++step) {
        ::process *who = forked && below(3) == 0 ? &child : &p.process;
        const uint64_t page = at + below(12000), pages = 1 + below(below(3) ? 40 : 1500), choice = below(100);
        if (choice < 14) process_map(who, page, pages, below(8) ? rw : uint32_t{AREA_READ}, 0, 0, 0);
        else if (choice < 18)
            process_map(who, page, std::min<uint64_t>(pages, 900), rw | (below(2) ? uint32_t{AREA_SHARED} : 0u), 1, below(90), 0);
        else if (choice < 22) process_unmap(who, page, pages, 0);
        else if (choice < 27) process_protect(who, page, pages, below(2) ? rw : uint32_t{AREA_READ});
        else if (choice < 31) process_advise(who, page, pages, below(2) ? ADVICE_DONTNEED : ADVICE_NOHUGEPAGE, 0);
        else if (choice < 36 && who->areas.count > 0) {
            const area &one = who->areas.item[below(who->areas.count)];
            const uint64_t from = one.start + below(one.end - one.start), length = std::min(pages, one.end - from);
            process_remap(who, from, length, length, at + below(2) * 20000 + below(40) * 512 + below(2) * below(512), 0);
        } else if (choice < 39) khugepaged_wake(&p.system, 0);
        else if (choice < 41) compact_all(&p.system.compact, 0);
        else if (choice < 44) reclaim_request(&p.system.reclaim, 500, 0);
        else if (choice < 45 && !forked) {
            const fork_result result = process_fork(&child, &p.process, 0);
            forked = result.outcome == PHYS_GOT_FRAMES && !result.has_swap;
        } else if (choice < 46 && forked) {
            process_exit(&child, 0);
            sink.copies.erase(&child.pt);
            forked = false;
        } else {
            for (uint64_t i = 0; i < pages; ++i) fault_resolve(who, page + i, below(3) > 0, 0);
        }
        vm_background(&p.system, 0);
        if (HasFatalFailure()) return;
        if (step % 10 != 0) continue;
        sink.copies[&p.process.pt].expect(p.process);
        if (forked) sink.copies[&child.pt].expect(child);
        if (HasFatalFailure()) FAIL() << "step " << step;
    }
    if (forked) process_exit(&child, 0);
    for (const pt_cause cause : {PT_BY_FAULT, PT_BY_ACCESS, PT_BY_TABLE, PT_BY_CALL, PT_BY_PROTECT, PT_BY_MOVE, PT_BY_AGING, PT_BY_RECLAIM})
        EXPECT_TRUE(sink.causes.count(cause)) << pt_cause_name(cause);
    ASSERT_STREQ(p.broken(), nullptr);
}

INSTANTIATE_TEST_SUITE_P(Sink, Events, testing::Range(uint64_t{1}, uint64_t{9}));

/// Levels and causes of the changes of one operation, runs of equal ones once.
struct Causes {
    explicit Causes(phys &memory) : memory(memory) {
        memory.events.context = this;
        memory.events.entry = [](void *self, const pt_change *change) {
            const std::string one = std::to_string(change->level) + " " + pt_cause_name(change->cause);
            auto &[memory, seen, times] = *static_cast<Causes *>(self);
            if (seen.empty() || seen.back() != one) seen.push_back(one), times.push_back(0);
            ++times.back();
        };
    }
    ~Causes() { memory.events = {}; }
    /// "1 call, 8 x 0 call".
    std::string text() const {
        std::string all;
        for (size_t i = 0; i < seen.size(); ++i)
            all += (i ? ", " : "") + (times[i] > 1 ? std::to_string(times[i]) + " x " : std::string()) + seen[i];
        return all;
    }
    phys &memory;
    std::vector<std::string> seen;
    std::vector<unsigned> times;
};

TEST(Events, EachWriterNamesItsCause) {
    Pressure p(settings_of(THP_ALWAYS), 64 * mib, 16384, false);
    using Lines = std::vector<std::string>;
    const auto causes = [&](const std::function<void()> &work) {
        Causes found(p.memory.p);
        work();
        return found.seen;
    };
    const auto touch = [&](uint64_t page, bool write) { return [&p, page, write] { p.touch(page, write); }; };
    const auto shared_once = [&] {  // with a child that has ended
        ::process child{};
        for (const std::string &one : causes([&] { process_fork(&child, &p.process, 0); }))
            EXPECT_TRUE(one.ends_with(" fork") || one.ends_with(" table")) << one;
        process_exit(&child, 0);
    };
    ASSERT_EQ(p.map(at, 512 * 4), nullptr);
    EXPECT_EQ(causes(touch(at, false)), (Lines{"3 table", "2 table", "1 fault"}));  // 2MB of zeros
    EXPECT_EQ(causes(touch(at + 5, true)), (Lines{"1 fault", "0 fault"}));  // split; a page
    EXPECT_EQ(causes(touch(at + 512, true)), (Lines{"1 fault"}));
    shared_once();
    EXPECT_EQ(causes(touch(at + 512, true)), (Lines{"1 fault"}));  // both are used again
    EXPECT_EQ(causes(touch(at + 5, true)), (Lines{"0 fault"}));
    vm_lru_drain(&p.system);
    EXPECT_EQ(causes([&] { process_advise(&p.process, at + 5, 1, ADVICE_PAGEOUT, 0); }), (Lines{"0 reclaim"}));
    shared_once();  // also its swap entry
    ASSERT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_2MB, 2, 0), 2u);
    ASSERT_EQ(hugetlb_map(&p.process, at + 512 * 12, 512, rw, HUGETLB_2MB, 0), nullptr);
    EXPECT_EQ(causes(touch(at + 512 * 12, true)), (Lines{"1 fault"}));  // of a pool
    shared_once();
    EXPECT_EQ(causes([&] { process_unmap(&p.process, at + 512 * 12, 512, 0); }), (Lines{"1 call"}));
    ASSERT_EQ(file_open(&p.system.files, 1, 1 << 16, false), nullptr);
    ASSERT_EQ(p.map(at + 512 * 8, 16, rw, 1), nullptr);
    EXPECT_EQ(causes(touch(at + 512 * 8, false)), (Lines{"1 table", "0 fault", "0 around"}));
}

TEST(Events, CallsNameThemselves) {
    Pressure p(settings_of(THP_ALWAYS), 64 * mib, 16384, false);
    ASSERT_EQ(p.map(at, 512 * 4), nullptr);
    for (uint64_t i = 0; i < 512 * 4; i += 512) p.touch(at + i);
    const auto only = [&](const char *cause, const char *also, const std::function<const char *()> &call) {
        Causes found(p.memory.p);
        EXPECT_EQ(call(), nullptr) << cause;
        EXPECT_FALSE(found.seen.empty()) << cause;
        for (const std::string &one : found.seen) EXPECT_TRUE(one.ends_with(cause) || one.ends_with(also)) << one;
    };
    only(" protect", " call", [&] { return process_protect(&p.process, at + 512, 512, AREA_READ); });
    only(" call", " call", [&] { return process_advise(&p.process, at + 100, 3, ADVICE_DONTNEED, 0); });
    only(" move", " table", [&] { return process_remap(&p.process, at + 512 * 2, 512, 512, at + 512 * 9, 0); });
    only(" call", " table", [&] { return process_unmap(&p.process, at, 512 * 13, 0); });
}

TEST(Events, AreLinesOfText) {
    pt table{};
    char text[PT_CHANGE_TEXT_BYTES];
    const auto line = [&](pt_change change) { return std::string(text, pt_change_text(&change, text)); };
    EXPECT_EQ(line({&table, 0x40000, 0, PT_BY_FAULT, 0, pt_make(7, PT_PRESENT | PT_WRITE | PT_YOUNG | PT_DIRTY)}),
              "entry page=0x40000 level=0 cause=fault old=none new=frame:7:wyd");
    EXPECT_EQ(line({&table, 512, 1, PT_BY_RECLAIM, pt_make(3, PT_PRESENT | PT_ZERO), 4096}),
              "entry page=0x200 level=1 cause=reclaim old=zero:3 new=table");
    EXPECT_EQ(line({&table, 1, 0, PT_BY_FORK, pt_make(5, PT_SWAP), pt_make(5, PT_SWAP | PT_SHARED)}),
              "entry page=0x1 level=0 cause=fork old=slot:5 new=slot:5:s");
}

TEST(Events, AFaultTellsItsPageAndTables) {
    Process p(settings_of(THP_NEVER));
    p.map(at, 4);
    struct Seen {
        std::vector<std::tuple<uint64_t, unsigned, pt_cause>> changes;
    } seen;
    p.memory.p.events.context = &seen;
    p.memory.p.events.entry = [](void *to, const pt_change *change) {
        static_cast<Seen *>(to)->changes.emplace_back(change->page, change->level, change->cause);
    };
    p.touch(at + 3);
    p.touch(at + 3);  // young and dirty already: nothing is written
    const uint64_t gb = at & ~(pt_slot_pages(2) - 1), upper = at & ~(pt_slot_pages(3) - 1);
    EXPECT_EQ(seen.changes, (std::vector<std::tuple<uint64_t, unsigned, pt_cause>>{
                                {upper, 3, PT_BY_TABLE}, {gb, 2, PT_BY_TABLE}, {at, 1, PT_BY_TABLE}, {at + 3, 0, PT_BY_FAULT}}));
    p.memory.p.events = {};
}

struct EachEvent : testing::Test {
    std::string of(const std::function<void()> &work) {
        Causes found(p.memory.p);
        work();
        return found.text();
    }
    Pressure p{settings_of(THP_ALWAYS), 64 * mib, 16384, false};
};

TEST_F(EachEvent, OfCallsThatCutPages) {
    ASSERT_EQ(p.map(at, 512 * 3), nullptr);
    for (uint64_t i = 0; i < 512 * 3; i += 512) ASSERT_EQ(p.touch(at + i).order, 9u);
    EXPECT_EQ(of([&] { process_unmap(&p.process, at + 100, 8, 0); }), "1 call, 8 x 0 call");  // split where areas get borders
    EXPECT_EQ(of([&] { process_protect(&p.process, at + 612, 8, AREA_READ); }), "1 call, 8 x 0 protect");
    EXPECT_EQ(of([&] { process_remap(&p.process, at + 512 * 2 + 5, 4, 4, at + 512 * 7, 0); }), "1 move, 1 table, 8 x 0 move");
    p.end();
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST_F(EachEvent, OfMoves) {
    ASSERT_EQ(p.map(at, 512 * 2), nullptr);
    for (uint64_t i = 0; i < 512 * 2; i += 512) ASSERT_EQ(p.touch(at + i).order, 9u);
    EXPECT_EQ(of([&] { process_remap(&p.process, at, 512, 512, at + 512 * 4, 0); }), "2 x 1 move");
}

TEST_F(EachEvent, OfSwap) {
    p.system.thp.enabled = THP_NEVER;
    ASSERT_EQ(p.map(at, 8), nullptr);
    for (uint64_t i = 0; i < 8; ++i) p.access(at + i, true);
    vm_lru_drain(&p.system);
    EXPECT_EQ(of([&] { process_advise(&p.process, at, 8, ADVICE_PAGEOUT, 0); }), "8 x 0 reclaim");
    EXPECT_EQ(of([&] { p.touch(at + 2, false); }), "0 fault");
    EXPECT_EQ(of([&] { process_unmap(&p.process, at + 4, 4, 0); }), "4 x 0 call");
    EXPECT_EQ(of([&] { process_unmap(&p.process, at, 4, 0); }), "4 x 0 call, 1 table, 2 table, 3 table");
}

TEST_F(EachEvent, OfBlocksThatReclaimSplits) {
    ASSERT_EQ(p.map(at, 512), nullptr);
    const uint32_t frame = p.touch(at).frame;
    vm_lru_drain(&p.system);
    ASSERT_TRUE(lru_isolate(&p.system.lru, frame));
    EXPECT_EQ(of([&] { anon_split(&p.system, frame, 0); }), "1 reclaim");
}

TEST_F(EachEvent, OfFiles) {
    ASSERT_EQ(file_open(&p.system.files, 1, 1 << 16, false), nullptr);
    ASSERT_EQ(p.map(at, 16, rw, 1), nullptr);
    p.touch(at + 3, false);
    vm_lru_drain(&p.system);
    const uint32_t from = file_frame(file_named(&p.system.files, 1), 3), to = p.memory.alloc();
    const lru_owner *owner = p.system.lru.owner[LRU_OWNER_FILE];
    ASSERT_TRUE(lru_isolate(&p.system.lru, from));
    lru_own(&p.system.lru, to, LRU_OWNER_FILE, LRU_ISOLATED);
    EXPECT_EQ(of([&] { ASSERT_TRUE(owner->migrate(owner->context, from, to, 0)); }), "0 migration");
    lru_forget(&p.system.lru, from);
    lru_putback(&p.system.lru, to, 0);
    vm_free(&p.system, from, 0, 0);
    EXPECT_EQ(of([&] { process_unmap(&p.process, at, 16, 0); }),
              "15 x 0 call, 1 table, 2 table, 3 table");  // the page with readahead's mark is not mapped
    EXPECT_STREQ(p.broken(), nullptr);
}

TEST_F(EachEvent, OfPoolsThatChildrenShare) {
    ASSERT_EQ(hugetlb_resize(&p.system.hugetlb, HUGETLB_2MB, 1, 0), 1u);
    ASSERT_EQ(hugetlb_map(&p.process, at, 512, rw, HUGETLB_2MB, 0), nullptr);
    p.touch(at);
    ::process child{};
    EXPECT_EQ(of([&] { process_fork(&child, &p.process, 0); }), "3 table, 2 table, 2 x 1 fork");
    EXPECT_EQ(of([&] { p.touch(at); }), "1 fork, 1 fault");  // the child loses the page that its parent was promised
    process_exit(&child, 0);
}

TEST(EachEventOfAPolicy, NamesIt) {
    Process p;
    policy_use(&p.system, &eager);
    Causes found(p.memory.p);
    ASSERT_EQ(p.map(at, 12), nullptr);
    EXPECT_EQ(found.text(), "3 table, 2 table, 1 table, 12 x 0 policy");
}

}  // namespace
