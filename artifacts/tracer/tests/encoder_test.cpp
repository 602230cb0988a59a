// The encoder's threads: their errors reach the writer's caller, blocks may be added while they work, and the order of
// frames and the bytes of the trace do not depend on their speed.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "lib/container.h"
#include "streams.h"

namespace tessera::trace::testing {
namespace {

StaticBlock loads(uint64_t pc, int count) {
    StaticBlock block{pc, {}, {}};
    for (int i = 0; i < count; ++i) {
        block.slots.push_back({static_cast<uint16_t>(i), 0, 8});
        block.insns.push_back({1, 2, 1, InsnKind::load, 1, 4});
    }
    return block;
}

TEST(Encoder, BlocksMayComeWhileAFrameIsInFlight) {
    const std::string path = temporary_path("in-flight");
    Writer writer = Writer::create(path);
    const uint32_t first = writer.add_block(loads(0x1000, 1));
    const uint8_t stores[2] = {0, 0};
    // One access more than a frame holds: the full frame is being encoded when the second block comes.
    for (uint64_t i = 0; i <= max_frame_accesses; ++i) {
        const uint64_t address = 0x4000000000 + 4096 * (i * 7919 % 65536);
        writer.append(first, &address, stores, 1);
    }
    const uint32_t second = writer.add_block(loads(0x2000, 2));
    const uint64_t two[2] = {0x5000000000, 0x5000001000};
    writer.append(second, two, stores, 2);
    writer.finish({});

    Reader reader = Reader::open(path);
    EXPECT_EQ(reader.frame_count(), 2u);
    EXPECT_EQ(reader.header().accesses, max_frame_accesses + 3);
    EXPECT_EQ(reader.header().instructions, max_frame_accesses + 3);
    EXPECT_EQ(reader.header().distinct_4kb_pages, 65536u + 2);
    Frame frame;
    ASSERT_TRUE(reader.next(frame));
    for (uint64_t i = 0; i < max_frame_accesses; ++i) ASSERT_EQ(frame.addresses[i], 0x4000000000 + 4096 * (i * 7919 % 65536));
    ASSERT_TRUE(reader.next(frame));
    EXPECT_EQ(frame.block_ids, (std::vector<uint32_t>{first, second}));
    EXPECT_EQ(frame.addresses[1], two[0]);
    EXPECT_EQ(frame.addresses[2], two[1]);
    std::remove(path.c_str());
}

/// Frames that take long (far misses) and short (strides) in turns, so that a later one is often encoded first; the last
/// one is not full. Each frame has its gigabyte, and each a block of its own.
constexpr uint64_t uneven_frames = 5;
uint64_t uneven_address(uint64_t frame, uint64_t i) {
    return 0x4000000000 + (frame << 30) + (frame % 2 == 0 ? i * 0x9e3779b97f4a7c15 >> 37 << 3 : 8 * i);
}
uint64_t uneven_count(uint64_t frame) { return frame + 1 == uneven_frames ? 1000 : max_frame_accesses; }

std::string write_uneven(const std::string& path) {
    Writer writer = Writer::create(path);
    for (uint64_t frame = 0; frame < uneven_frames; ++frame) {
        const uint32_t block = writer.add_block(loads(0x1000 * (frame + 1), 1));
        for (uint64_t i = 0; i < uneven_count(frame); ++i) {
            const uint64_t address = uneven_address(frame, i);
            const uint8_t store = i % 4 == 0;
            writer.append(block, &address, &store, 1);
        }
    }
    writer.finish({});
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Encoder, FramesKeepTheirOrderAndTheirBytesWhicheverThreadIsFaster) {
    const std::string path = temporary_path("uneven");
    const std::string bytes = write_uneven(path);
    Reader reader = Reader::open(path);
    ASSERT_EQ(reader.frame_count(), uneven_frames);
    EXPECT_EQ(reader.header().stores, (uneven_frames - 1) * max_frame_accesses / 4 + 250);
    Frame frame;
    uint64_t pages = 0;
    for (uint64_t f = 0; f < uneven_frames; ++f) {
        ASSERT_TRUE(reader.next(frame));
        ASSERT_EQ(frame.addresses.size(), uneven_count(f));
        std::vector<uint64_t> touched;
        for (uint64_t i = 0; i < uneven_count(f); ++i) {
            ASSERT_EQ(frame.addresses[i], uneven_address(f, i)) << "frame " << f << " access " << i;
            touched.push_back(uneven_address(f, i) >> 12);
        }
        std::sort(touched.begin(), touched.end());
        pages += static_cast<uint64_t>(std::unique(touched.begin(), touched.end()) - touched.begin());
    }
    EXPECT_EQ(reader.header().distinct_4kb_pages, pages);
    EXPECT_TRUE(write_uneven(path) == bytes);
    std::remove(path.c_str());
}

TEST(Encoder, AFailureInAThreadIsTheWritersAndLeavesNothing) {
    const std::string path = temporary_path("too-large");
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    {
        Writer writer = Writer::create(path);
        const uint32_t block = writer.add_block(loads(0x1000, 1));
        const rlimit small{4096, before.rlim_max};  // a frame is larger, as on a full disk
        ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
        const auto write_frames = [&] {
            const uint8_t store = 0;
            for (uint64_t i = 0; i < 5 * max_frame_accesses; ++i) {
                const uint64_t address = 0x4000000000 + (i * 0x9e3779b97f4a7c15 >> 34 << 3);
                writer.append(block, &address, &store, 1);
            }
        };
        EXPECT_THROW(write_frames(), TraceError);
    }
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(files_like(path), std::set<std::string>{});
}

}  // namespace
}  // namespace tessera::trace::testing
