// Callbacks of running code: what they read in which thread.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include "plugin/translate.h"

namespace tessera::tracer::testing {
namespace {

/// The recorded thread writes a block's head_tag, so the others must not read it: here they can't.
TEST(OnHead, OnlyTheRecordedThreadReadsTheBlock) {
    void* const block = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(block, MAP_FAILED);
    recorded_vcpu = 0;
    on_head(1, 0, 64, block);
    recorded_vcpu = nobody;
    munmap(block, 4096);
}

TEST(OnHead, WritesTheBlockAndItsFirstAccess) {
    Event room[4] = {};
    cursor = {room, room + 4, room + 4};
    recorded_vcpu = 0;
    TranslatedBlock block;
    block.head_tag = insn_tag(3);
    const qemu_plugin_meminfo_t load_of_4_bytes = 1u << 16 | 2u << 4;
    on_head(0, load_of_4_bytes, 64, &block);
    on_head(1, load_of_4_bytes, 96, &block);
    on_head(0, load_of_4_bytes, 128, &block);
    recorded_vcpu = nobody;
    const Event tag = insn_tag(3) | access_tag(load_tag, 2);
    EXPECT_EQ(cursor.at, room + 4);
    EXPECT_EQ((std::vector<Event>{room, room + 4}), (std::vector<Event>{block_event(&block), tag | 64, block_event(&block), tag | 128}));
    cursor = {};
}

}  // namespace
}  // namespace tessera::tracer::testing
