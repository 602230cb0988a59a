// Random calls of a family of processes that share memory and files, against a plain model of contents: what each page of each process must read.
// The test keeps what each frame holds: a fault that gives a new page or a copy changes it, as the kernel would. A page of a file is
// read from disk once while it is cached. At the end every frame is back.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>

#include "vm_support.h"

extern "C" {
#include "file/read.h"
#include "vm/fork.h"
#include "vm/khugepaged.h"
}

using namespace tests;

namespace {

constexpr uint64_t anonymous = 512 * 5000, span = 1536, private_file = 512 * 6000, shared_file = 512 * 7000, file_length = 300;

/// What one process must read: anonymous pages by page, 0 if never written; its own pages of the private file. The shared file is one for all.
struct Seen {
    std::map<uint64_t, uint64_t> own;
};

struct World {
    explicit World(uint64_t seed) : p(settings_of(seed % 3 ? THP_ALWAYS : THP_NEVER)), random(seed) {
        settings();
        if (seed % 2) {
            area_slabs_create(&slabs, &p.memory.p, 0);
            p.system.slabs = p.process.areas.slabs = &slabs;
        }
        if (file_open(&p.system.files, 1, file_length * 4096, seed % 4 == 3)) std::abort();
        p.system.files.disk = [](void *self, uint32_t, uint64_t index, uint32_t pages) {
            auto *world = static_cast<World *>(self);
            for (uint64_t i = index; i < index + pages; ++i) {
                const uint32_t frame = file_frame(world->file_one(), i);
                if (frame == PHYS_NO_FRAME) std::abort();
                if (world->read_before[i]) world->read_twice = true;
                world->read_before[i] = true;
                world->content[frame] = world->on_disk(i);
            }
        };
        p.system.files.disk_context = this;
        for (uint64_t i = 0; i < file_length; ++i) file_content[i] = on_disk(i);
        members.push_back({&p.process, {}});
        map_all(p.process);
    }
    ~World() {
        for (size_t i = 1; i < members.size(); ++i) leave_process(members[i].process);
    }
    void settings() {
        p.system.thp.max_ptes_none = 511;
        p.system.thp.max_ptes_shared = 511;
    }
    static uint64_t on_disk(uint64_t index) { return 1000000 + index; }
    file *file_one() { return file_named(&p.system.files, 1); }
    uint64_t below(uint64_t bound) { return random_below(&random, bound); }
    void map_all(process &of) {
        process_map(&of, anonymous, span, rw, 0, 0, 0);
        process_map(&of, private_file, file_length, rw, 1, 0, 0);
        process_map(&of, shared_file, file_length, rw | AREA_SHARED, 1, 0, 0);
    }
    static void leave_process(process *one) {
        process_exit(one, 0);
        delete one;
    }

    struct Member {
        ::process *process;
        Seen seen;
    };

    uint64_t *expected(Member &member, uint64_t page) {
        if (page >= shared_file) return &file_content[page - shared_file];
        if (page >= private_file && !member.seen.own.count(page)) return &file_content[page - private_file];
        return &member.seen.own[page];
    }
    static uint32_t frame_at(const process *of, uint64_t page) {
        unsigned level;
        const pt_entry *slot = pt_find(&of->pt, page, &level);
        if (!slot || !pt_present(*slot) || *slot & PT_ZERO) return PHYS_NO_FRAME;
        return pt_value(*slot) + (level == 1 ? static_cast<uint32_t>(page % 512) : 0);
    }
    uint64_t read_frame(const process *of, uint64_t page) {
        const uint32_t frame = frame_at(of, page);
        return frame == PHYS_NO_FRAME ? 0 : content[frame];
    }
    void access(Member &member, uint64_t page, bool write) {
        ::process *of = member.process;
        uint64_t before = read_frame(of, page);
        fault result = fault_access(of, page, write, 0, FAULT_FIRST);
        if (result.kind == FAULT_NEEDS && result.needs_order == 9) result = fault_access(of, page, write, 0, FAULT_WITHOUT_HUGE);
        ASSERT_NE(result.kind, FAULT_NEEDS);
        ASSERT_NE(result.kind, FAULT_BAD_ACCESS);
        if (result.kind == FAULT_PAGE)
            for (uint32_t i = 0; i < 1u << result.order; ++i) content[result.frame + i] = 0;
        if (result.kind == FAULT_COPY) {
            // From a page that was not mapped: the file's.
            if (page >= private_file && before == 0) before = content[file_frame(file_one(), page - private_file)];
            content[result.frame] = before;
        }
        ASSERT_EQ(fault_access(of, page, write, 0, FAULT_FIRST).kind, FAULT_NONE);
        ASSERT_EQ(read_frame(of, page), *expected(member, page)) << page;
        if (!write) return;
        const uint64_t tag = ++tags;
        content[frame_at(of, page)] = tag;
        if (page >= shared_file) file_content[page - shared_file] = tag;
        else member.seen.own[page] = tag;
    }
    uint64_t some_page() {
        switch (below(4)) {
            case 0: return private_file + below(file_length);
            case 1: return shared_file + below(file_length);
            default: return anonymous + (below(2) ? below(span) : below(64));
        }
    }
    void drop(Member &member, uint64_t page, uint64_t pages) {
        auto &own = member.seen.own;
        own.erase(own.lower_bound(page), own.lower_bound(page + pages));
    }
    void fork_one(size_t parent) {
        auto *child = new ::process;
        const fork_result result = process_fork(child, members[parent].process, 0);
        ASSERT_EQ(result.outcome, PHYS_GOT_FRAMES);
        members.push_back({child, members[parent].seen});
    }
    /// khugepaged copies pages to new blocks.
    void collapse() {
        std::map<std::pair<size_t, uint64_t>, uint64_t> before;
        for (size_t i = 0; i < members.size(); ++i)
            for (uint64_t page = anonymous; page < anonymous + span; ++page) before[{i, page}] = read_frame(members[i].process, page);
        khugepaged_wake(&p.system, 0);
        for (const auto &[where, value] : before) {
            const uint32_t frame = frame_at(members[where.first].process, where.second);
            if (frame != PHYS_NO_FRAME) content[frame] = value;
        }
    }
    void forget_dropped() {
        for (uint64_t i = 0; i < file_length; ++i)
            if (file_frame(file_one(), i) == PHYS_NO_FRAME) read_before[i] = false;
    }
    void step() {
        const size_t who = below(members.size());
        Member &member = members[who];
        const uint64_t page = some_page(), length = 1 + below(80);
        switch (below(60)) {
            case 0:
                if (members.size() < 5) fork_one(who);
                break;
            case 1:
                if (who == 0) break;
                leave_process(member.process);
                members.erase(members.begin() + static_cast<int64_t>(who));
                break;
            case 2: {
                const uint64_t start = anonymous + below(span - 80);
                ASSERT_EQ(process_map(member.process, start, length, rw, 0, 0, 0), nullptr);
                drop(member, start, length);
                break;
            }
            case 3: {
                const uint64_t start = below(2) ? anonymous + below(span - 80) : private_file + below(file_length - 80);
                ASSERT_EQ(process_advise(member.process, start, length, ADVICE_DONTNEED, 0), nullptr);
                drop(member, start, length);
                break;
            }
            case 4: {
                const uint64_t start = below(2) ? anonymous + below(span - 80) : private_file + below(file_length - 80);
                ASSERT_EQ(process_protect(member.process, start, length, AREA_READ), nullptr);
                ASSERT_EQ(process_protect(member.process, start, length, rw), nullptr);
                break;
            }
            case 5: collapse(); break;
            case 6:
                file_drop_caches(&p.system.files, 0);
                forget_dropped();
                break;
            case 7: file_read(&p.system.files, file_one(), below(file_length) * 4096, length * 4096, 0); break;
            default:
                for (uint64_t i = 0; i < 1 + below(10); ++i) {
                    const uint64_t end = page < private_file  ? anonymous + span
                                         : page < shared_file ? private_file + file_length
                                                              : shared_file + file_length;
                    if (page + i < end) access(member, page + i, below(2));
                    if (testing::Test::HasFatalFailure()) return;
                }
        }
    }
    const char *broken() {
        std::vector<process *> all;
        for (const Member &member : members) all.push_back(member.process);
        if (const char *rule = phys_check(&p.memory.p)) return rule;
        return vm_check(&p.system, all.data(), all.size());
    }
    /// Every mapped page of every process reads what it must.
    void compare() {
        ASSERT_STREQ(broken(), nullptr);
        ASSERT_FALSE(read_twice);
        for (Member &member : members)
            for (uint64_t base : {anonymous, private_file, shared_file})
                for (uint64_t page = base; page < base + (base == anonymous ? span : file_length); ++page) {
                    unsigned level;
                    const pt_entry *slot = pt_find(&member.process->pt, page, &level);
                    const bool there = slot && pt_present(*slot);
                    ASSERT_TRUE(!there || read_frame(member.process, page) == *expected(member, page)) << page;
                    ASSERT_FALSE(!slot && base != shared_file && member.seen.own.count(page) && member.seen.own[page] != 0) << page;
                }
    }

    area_slabs slabs{};
    Process p;
    uint64_t random, tags = 0;
    std::vector<Member> members;
    std::map<uint32_t, uint64_t> content;
    std::array<uint64_t, file_length> file_content{};
    std::array<bool, file_length> read_before{};
    bool read_twice = false;
};

struct ContentsRandom : testing::TestWithParam<uint64_t> {};

TEST_P(ContentsRandom, EachProcessReadsItsOwnWritesAndOnlyThose) {
    const Memory fresh = Memory::pc(256 * mib);
    auto world = std::make_unique<World>(GetParam());
    for (int part = 0; part < 8; ++part) {
        for (int i = 0; i < 150; ++i) {
            world->step();
            ASSERT_FALSE(HasFatalFailure()) << "part " << part << " step " << i;
        }
        world->compare();
        ASSERT_FALSE(HasFatalFailure()) << part;
    }
    while (world->members.size() > 1) {
        World::leave_process(world->members.back().process);
        world->members.pop_back();
    }
    world->p.end();
    if (world->p.system.slabs) {
        for (const slab_cache &cache : world->slabs.cache) {
            EXPECT_STREQ(slab_check(&cache), nullptr);
            EXPECT_EQ(cache.counts.allocs, cache.counts.frees) << cache.name;
        }
        area_slabs_destroy(&world->slabs);
    }
    vm_lru_drain(&world->p.system);
    vm_shrink_huge_zero(&world->p.system, 0);
    file_cache_destroy(&world->p.system.files, 0);
    percpu_drain_all(&world->p.memory.p, 0);
    for (int i = 0; i < PHYS_ZONES; ++i) EXPECT_EQ(blocks_of(world->p.memory.p.zones[i]), blocks_of(fresh.p.zones[i])) << phys_zone_name(i);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ContentsRandom, testing::Range(uint64_t{1}, uint64_t{9}));

}  // namespace
