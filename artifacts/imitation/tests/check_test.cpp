// phys_check finds each kind of damage: without this, the tests that rely on it would prove nothing.
#include <gtest/gtest.h>

#include <functional>

#include "support.h"

using tests::Memory;

namespace {

constexpr uint32_t base = 8192;

struct Damage {
    const char *name;
    std::function<void(phys &, zone &)> inflict;
};

class Found : public testing::TestWithParam<Damage> {};

TEST_P(Found, ByTheCheck) {
    Memory memory = Memory::of({{base, base + 4096}});
    zone &dma32 = memory.p.zones[PHYS_DMA32];
    const uint32_t used = memory.alloc(4);  // base; blocks of orders 4 to 9 follow
    memory.release(memory.alloc(0));        // one frame on a per-CPU list: base + 16
    ASSERT_EQ(used, base);
    ASSERT_EQ(frame_kind(&memory.p.frames, base + 16), FRAME_PERCPU);
    ASSERT_EQ(phys_check(&memory.p), nullptr);
    GetParam().inflict(memory.p, dma32);
    EXPECT_NE(phys_check(&memory.p), nullptr);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, Found,
    testing::ValuesIn(std::vector<Damage>{
        {"lost_block", [](phys &p, zone &) { frame_set(&p.frames, base + 4, FRAME_FREE, 0), frame_set(&p.frames, base, FRAME_INSIDE, 0); }},
        {"overlap", [](phys &p, zone &) { frame_set(&p.frames, base + 3, FRAME_USED, 0); }},
        {"unaligned", [](phys &p, zone &) { frame_set(&p.frames, base, FRAME_INSIDE, 0), frame_set(&p.frames, base + 1, FRAME_USED, 1); }},
        {"order_11", [](phys &p, zone &) { frame_set(&p.frames, base, FRAME_USED, 11); }},
        {"not_managed", [](phys &p, zone &) { bitmap_clear(p.frames.managed, base + 2, 1); }},
        {"free_frame_on_lru", [](phys &p, zone &) { bitmap_set(p.frames.lru, base + 3000, 1); }},
        {"wrong_type", [](phys &p, zone &) { p.frames.block_type[(base + 1024) / 512] = PHYS_UNMOVABLE; }},
        {"blocks", [](phys &, zone &zone) { ++zone.blocks[10]; }},
        {"free_frames", [](phys &, zone &zone) { --zone.free_frames; }},
        {"drift", [](phys &, zone &zone) { ++zone.percpu[0].free_drift; }},
        {"reserve", [](phys &, zone &zone) { ++zone.free_highatomic; }},
        {"percpu_count", [](phys &, zone &zone) { ++zone.percpu[0].count; }},
        {"kind_on_list", [](phys &p, zone &) { frame_set(&p.frames, base + 1024, FRAME_USED, 10); }},
        {"order_on_list", [](phys &p, zone &) { frame_set(&p.frames, base + 16, FRAME_PERCPU, 1); }},
        {"link", [](phys &p, zone &) { p.frames.links[base + 2048].previous = base + 2048; }},
    }),
    [](const auto &info) { return std::string(info.param.name); });

}  // namespace
