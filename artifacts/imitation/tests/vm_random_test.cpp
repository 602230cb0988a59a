// Random calls of processes against a plain map (page -> rights, written or not); after the exit, every frame is back and every
// block merged.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "vm_support.h"

extern "C" {
#include "vm/khugepaged.h"
}

using namespace tests;

namespace {

constexpr uint64_t base = 512 * 5000, span = 512 * 24;

/// What a program sees: the rights of each page, and whether it wrote there since it was mapped; then it has a page of its own.
struct Oracle {
    std::map<uint64_t, uint32_t> rights;
    std::set<uint64_t> written;
    void protect(uint64_t page, uint64_t pages, uint32_t right) {
        for (uint64_t i = page; i < page + pages; ++i) rights[i] = right;
    }
    void drop(uint64_t page, uint64_t pages) { written.erase(written.lower_bound(page), written.lower_bound(page + pages)); }
    void unmap(uint64_t page, uint64_t pages) {
        rights.erase(rights.lower_bound(page), rights.lower_bound(page + pages));
        drop(page, pages);
    }
    void map(uint64_t page, uint64_t pages, uint32_t right) {
        drop(page, pages);
        protect(page, pages, right);
    }
    bool whole(uint64_t page, uint64_t pages) const {
        uint64_t count = 0;
        for (auto it = rights.lower_bound(page); it != rights.end() && it->first < page + pages; ++it) ++count;
        return count == pages;
    }
};

struct Caller {
    Caller(uint64_t seed, thp settings) : p(settings), random(seed) {}
    uint64_t below(uint64_t bound) { return random_below(&random, bound); }

    void step() {
        const uint64_t page = base + below(span), pages = 1 + below(below(3) ? 40 : 1200), end = base + span;
        const uint64_t fits = std::min(pages, end - page);
        switch (below(40)) {
            case 0:
            case 1: {
                const uint64_t start = below(2) ? page / 512 * 512 : page, length = std::min(pages, end - start);
                const uint32_t right = below(4) ? rw : uint32_t{AREA_READ};
                ASSERT_EQ(p.map(start, length, right), nullptr);
                oracle.map(start, length, right);
                break;
            }
            case 2:
                ASSERT_EQ(process_unmap(&p.process, page, fits, 0), nullptr);
                oracle.unmap(page, fits);
                break;
            case 3: {
                const uint32_t right = below(3) ? rw : uint32_t{AREA_READ};
                if (!oracle.whole(page, fits)) break;
                ASSERT_EQ(process_protect(&p.process, page, fits, right), nullptr);
                oracle.protect(page, fits, right);
                break;
            }
            case 4: {
                const auto advice = static_cast<process_advice>(below(3));
                process_advise(&p.process, page, fits, advice, 0);
                if (advice == ADVICE_DONTNEED) oracle.drop(page, fits);
                break;
            }
            case 5: move(page, std::min<uint64_t>(fits, 700)); break;
            case 6: khugepaged_wake(&p.system, 0); break;
            default:
                for (uint64_t i = 0; i < std::min<uint64_t>(fits, 16); ++i) access(page + i, below(3) > 0);
        }
    }
    void access(uint64_t page, bool write) {
        const auto found = oracle.rights.find(page);
        const bool allowed = found != oracle.rights.end() && (!write || found->second & AREA_WRITE);
        fault result = p.touch(page, write);
        if (result.kind == FAULT_NEEDS && result.needs_order == 9) result = p.touch(page, write, FAULT_WITHOUT_HUGE);
        ASSERT_EQ(result.kind == FAULT_BAD_ACCESS, !allowed) << page;
        if (!allowed) return;
        ASSERT_NE(result.kind, FAULT_NEEDS);
        ASSERT_NE(result.kind, FAULT_REUSE);  // mprotect gives rights back at once
        ASSERT_EQ(p.touch(page, write).kind, FAULT_NONE);
        if (write) oracle.written.insert(page);
    }
    /// The frame of a page of its own; PHYS_NO_FRAME: none.
    uint32_t frame_of(uint64_t page) const {
        unsigned level;
        const pt_entry entry = p.entry(page, &level);
        if (!pt_present(entry) || entry & PT_ZERO) return PHYS_NO_FRAME;
        return pt_value(entry) + (level == 1 ? static_cast<uint32_t>(page % 512) : 0);
    }
    void move(uint64_t page, uint64_t pages) {
        const uint64_t to = base + below(span - pages);
        if (!oracle.whole(page, pages)) return;
        struct Page {
            uint32_t rights, frame;
            bool written;
        };
        std::vector<Page> before;
        for (uint64_t i = 0; i < pages; ++i)
            before.push_back({oracle.rights[page + i], frame_of(page + i), oracle.written.count(page + i) > 0});
        if (process_remap(&p.process, page, pages, pages, to, 0) != nullptr) {
            // Refused: overlap, or more than one area; Linux has emptied the target by then in the second case.
            if (to + pages <= page || page + pages <= to) oracle.unmap(to, pages);
            return;
        }
        oracle.unmap(to, pages);
        if (to != page) oracle.unmap(page, pages);
        for (uint64_t i = 0; i < pages; ++i) {
            oracle.rights[to + i] = before[i].rights;
            if (before[i].written) oracle.written.insert(to + i);
            ASSERT_EQ(frame_of(to + i), before[i].frame);
        }
    }
    void compare() {
        ASSERT_EQ(p.broken(), nullptr);
        size_t pages = 0;
        for (size_t i = 0; i < p.process.areas.count; ++i) {
            const area &one = p.process.areas.item[i];
            pages += one.end - one.start;
            for (uint64_t page = one.start; page < one.end; ++page)
                ASSERT_EQ(oracle.rights.count(page) ? oracle.rights[page] : 99, one.flags & AREA_RIGHTS) << page;
        }
        ASSERT_EQ(pages, oracle.rights.size());
        for (const uint64_t page : oracle.written) ASSERT_NE(frame_of(page), PHYS_NO_FRAME) << page;
        if (p.system.counts.thp_fault_alloc + p.system.counts.thp_collapse_alloc == 0) {
            ASSERT_EQ(p.process.anonymous_pages, oracle.written.size());
        }
    }

    Process p;
    Oracle oracle;
    uint64_t random;
};

struct VmRandom : testing::TestWithParam<uint64_t> {};

TEST_P(VmRandom, AgreeWithThePlainMapAndGiveEverythingBack) {
    const auto defrag = static_cast<thp_defrag>(GetParam() % THP_DEFRAG_VALUES);
    thp settings = settings_of(GetParam() % 4 == 3 ? THP_MADVISE : GetParam() == 10 ? THP_NEVER : THP_ALWAYS, defrag);
    settings.max_ptes_none = GetParam() % 2 ? 511 : 200;
    Caller caller(GetParam(), settings);
    percpu_drain_all(&caller.p.memory.p, 0);
    const Memory fresh = Memory::pc(256 * mib);
    for (int part = 0; part < 10; ++part) {
        for (int i = 0; i < 150; ++i) {
            caller.step();
            ASSERT_FALSE(HasFatalFailure()) << "part " << part << " step " << i;
        }
        caller.compare();
        ASSERT_FALSE(HasFatalFailure()) << part;
    }
    // With madvise it depends on the advice that the calls give.
    if (settings.enabled == THP_ALWAYS) {
        EXPECT_GT(caller.p.system.counts.thp_fault_alloc, 0u);
    }
    if (settings.enabled == THP_NEVER) {
        EXPECT_EQ(caller.p.system.counts.thp_fault_alloc, 0u);
    }
    caller.p.end();
    vm_shrink_huge_zero(&caller.p.system, 0);
    percpu_drain_all(&caller.p.memory.p, 0);
    ASSERT_EQ(caller.p.broken(), nullptr);
    EXPECT_EQ(free_everywhere(caller.p.memory.p), free_everywhere(fresh.p));
    for (int i = 0; i < PHYS_ZONES; ++i) EXPECT_EQ(blocks_of(caller.p.memory.p.zones[i]), blocks_of(fresh.p.zones[i])) << phys_zone_name(i);
}

INSTANTIATE_TEST_SUITE_P(Seeds, VmRandom, testing::Range(uint64_t{1}, uint64_t{11}));

}  // namespace
