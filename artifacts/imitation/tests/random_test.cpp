// Long random sequences of requests against a plain model: no frame twice, nothing lost, and all merged after all is freed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support.h"

using tests::Memory;
using tests::mib;

namespace {

/// What a caller knows: the blocks it holds. Checks each block against all others, frame by frame.
class Model {
public:
    explicit Model(uint32_t frames) : held_(frames) {}
    bool add(uint32_t frame, unsigned order) {
        for (uint32_t f = frame; f < frame + (1u << order); ++f) {
            if (held_[f]) return false;
            held_[f] = true;
        }
        blocks_.emplace_back(frame, order);
        return true;
    }
    std::pair<uint32_t, unsigned> remove(size_t index) {
        std::swap(blocks_[index], blocks_.back());
        const auto block = blocks_.back();
        blocks_.pop_back();
        for (uint32_t f = block.first; f < block.first + (1u << block.second); ++f) held_[f] = false;
        return block;
    }
    size_t size() const { return blocks_.size(); }
    uint64_t frames() const { return static_cast<uint64_t>(std::count(held_.begin(), held_.end(), true)); }

private:
    std::vector<bool> held_;
    std::vector<std::pair<uint32_t, unsigned>> blocks_;
};

uint64_t frames_everywhere(const phys &p) {
    int64_t sum = 0;
    for (const zone &zone : p.zones) {
        sum += phys_zone_free(&p, static_cast<phys_zone>(zone.id));
        for (uint32_t cpu = 0; cpu < p.cpus; ++cpu) sum += zone.percpu[cpu].count;
    }
    return static_cast<uint64_t>(sum);
}

/// `steps` random events; mostly small orders. `pressure`: how full memory is kept, in percent of requests against frees.
void random_requests(Memory &memory, Model &model, uint64_t &random, int steps, unsigned pressure) {
    for (int step = 0; step < steps; ++step) {
        const uint64_t choice = random_below(&random, 1000);
        const uint8_t cpu = static_cast<uint8_t>(random_below(&random, memory.p.cpus));
        if (choice < 10 * pressure || model.size() == 0) {
            const unsigned order = random_below(&random, 4) ? static_cast<unsigned>(random_below(&random, 3))
                                                            : static_cast<unsigned>(random_below(&random, PHYS_ORDERS));
            phys_request request = phys_request_default(order, static_cast<phys_type>(random_below(&random, 3)));
            request.cpu = cpu;
            request.may_reclaim = random_below(&random, 4) > 0;
            request.may_use_reserve = random_below(&random, 8) == 0;
            const phys_result result = phys_alloc(&memory.p, &request);
            if (result.outcome != PHYS_GOT_FRAMES) {
                percpu_drain_all(&memory.p, cpu);
                highatomic_unreserve(&memory.p, PHYS_NORMAL, request.type, true);
                continue;
            }
            ASSERT_TRUE(model.add(result.frame, order)) << "frame " << result.frame << " was given out twice";
            if (request.type == PHYS_MOVABLE) phys_set_lru(&memory.p, result.frame, true, &memory.failure);
        } else if (choice < 995) {
            const auto [frame, order] = model.remove(random_below(&random, model.size()));
            ASSERT_TRUE(memory.release(frame, order, cpu)) << memory.failure.found;
        } else {
            percpu_refresh(&memory.p, cpu);
        }
    }
}

void free_all(Memory &memory, Model &model) {
    while (model.size() > 0) {
        const auto [frame, order] = model.remove(model.size() - 1);
        ASSERT_TRUE(memory.release(frame, order)) << memory.failure.found;
    }
    while (highatomic_unreserve(&memory.p, PHYS_NORMAL, PHYS_MOVABLE, true)) continue;
    percpu_drain_all(&memory.p, 0);
    while (highatomic_unreserve(&memory.p, PHYS_NORMAL, PHYS_MOVABLE, true)) continue;
}

struct RandomRequests : testing::TestWithParam<uint64_t> {};

TEST_P(RandomRequests, NoFrameTwiceNoneLostAllMerged) {
    uint64_t random = GetParam();
    phys_config config = phys_config_default();
    config.cpus = 1 + static_cast<uint32_t>(random_below(&random, 3));
    const std::vector<frame_range> ranges = {
        {1, 159}, {256, 10000}, {0x100000, 0x100000 + 9000 + static_cast<uint32_t>(random_below(&random, 3000))}};
    Memory memory = Memory::of(ranges, config);
    const Memory fresh = Memory::of(ranges, config);
    Model model(memory.p.frames.count);
    const uint64_t total = frames_everywhere(memory.p);
    for (const unsigned pressure : {70u, 45u, 60u, 20u}) {
        random_requests(memory, model, random, 4000, pressure);
        ASSERT_FALSE(HasFatalFailure());
        ASSERT_EQ(phys_check(&memory.p), nullptr);
        ASSERT_EQ(frames_everywhere(memory.p) + model.frames(), total);
    }
    free_all(memory, model);
    ASSERT_EQ(phys_check(&memory.p), nullptr);
    for (int i = 0; i < PHYS_ZONES; ++i)
        EXPECT_EQ(tests::blocks_of(memory.p.zones[i]), tests::blocks_of(fresh.p.zones[i])) << phys_zone_name(i);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRequests, testing::Range(uint64_t{1}, uint64_t{13}));

TEST(Determinism, TheSameEventsGiveTheSameLog) {
    std::string first;
    for (int run = 0; run < 2; ++run) {
        uint64_t random = 77;
        Memory memory = Memory::pc(64 * mib);
        Model model(memory.p.frames.count);
        memory.record();
        random_requests(memory, model, random, 6000, 60);
        if (run == 0) first = memory.log_text();
        EXPECT_GT(memory.events.size(), 10000u);
        EXPECT_EQ(memory.log_text(), first);
    }
}

TEST(Determinism, ALogChangesNoDecision) {
    std::string snapshots[2];
    for (int logged = 0; logged < 2; ++logged) {
        uint64_t random = 5;
        Memory memory = Memory::pc(64 * mib);
        Model model(memory.p.frames.count);
        if (logged) memory.record();
        random_requests(memory, model, random, 6000, 60);
        snapshots[logged] = memory.snapshot();
    }
    EXPECT_EQ(snapshots[0], snapshots[1]);
}

// Two defects of Virtuoso's allocators (CMU-SAFARI/Virtuoso 8188baf), which ours must not have.

TEST(VirtuosoDefect1, FreedMemoryMerges) {
    // include/memory_management/physical_memory_allocators/buddy.h: after all of 64MB is freed, no 2MB block exists.
    Memory memory = Memory::of({{8192, 8192 + 16384}});
    std::vector<uint32_t> frames;
    for (uint32_t frame; (frame = buddy_take(&memory.p, &memory.p.zones[PHYS_DMA32], 0, PHYS_MOVABLE)) != PHYS_NO_FRAME;) {
        frame_set(&memory.p.frames, frame, FRAME_USED, 0);
        frames.push_back(frame);
    }
    ASSERT_EQ(frames.size(), 16384u);
    uint64_t random = 3;
    for (size_t left = frames.size(); left > 1; --left) std::swap(frames[left - 1], frames[random_below(&random, left)]);
    for (const uint32_t frame : frames) ASSERT_TRUE(memory.release(frame));
    percpu_drain_all(&memory.p, 0);
    EXPECT_EQ(memory.p.zones[PHYS_DMA32].blocks[10], 16u);
}

TEST(VirtuosoDefect2, ASplitHugePageIsGivenOutOnce) {
    // reserve_thp.h: demote_page() returns two pages for one it holds, so frames are handed out twice.
    Memory memory = Memory::pc(64 * mib);
    Model model(memory.p.frames.count);
    for (int huge = 0; huge < 4; ++huge) {
        const uint32_t frame = memory.alloc(9);
        ASSERT_TRUE(phys_split_used(&memory.p, frame, 0, &memory.failure));
        for (uint32_t page = 0; page < 512; ++page) {
            if (page % 3 == 0) ASSERT_TRUE(memory.release(frame + page));  // demoted: the untouched pages go back
            else ASSERT_TRUE(model.add(frame + page, 0));
        }
        EXPECT_FALSE(memory.release(frame, 9));
        EXPECT_FALSE(memory.release(frame + 3));
    }
    for (int i = 0; i < 3000; ++i) {
        const uint32_t frame = memory.alloc();
        if (frame == PHYS_NO_FRAME) break;
        ASSERT_TRUE(model.add(frame, 0)) << "frame " << frame << " was given out twice";
    }
    EXPECT_EQ(phys_check(&memory.p), nullptr);
}

}  // namespace
