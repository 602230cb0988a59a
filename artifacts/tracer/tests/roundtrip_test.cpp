// A trace reads back as it was written, for streams of every shape.
#include <gtest/gtest.h>

#include <set>

#include "streams.h"

namespace tessera::trace::testing {
namespace {

/// Compares a whole trace with the stream, execution by execution.
void expect_same(const std::string& path, const Stream& stream) {
    Reader reader = Reader::open(path);
    Frame frame;
    size_t at = 0;
    uint64_t accesses = 0, instructions = 0;
    while (reader.next(frame)) {
        ASSERT_EQ(frame.first_access, accesses);
        ASSERT_EQ(frame.first_instruction, instructions);
        size_t access = 0;
        for (size_t e = 0; e < frame.block_ids.size(); ++e, ++at) {
            const Execution& want = stream.executions.at(at);
            ASSERT_EQ(frame.block_ids[e], want.block) << "execution " << at;
            ASSERT_EQ(frame.access_counts[e], want.addresses.size()) << "execution " << at;
            for (size_t i = 0; i < want.addresses.size(); ++i, ++access) {
                ASSERT_EQ(frame.addresses[access], want.addresses[i]) << "execution " << at;
                ASSERT_EQ(frame.is_store[access], want.is_store[i]) << "execution " << at;
            }
            instructions += instructions_of(stream.blocks[want.block]);
        }
        ASSERT_EQ(access, frame.addresses.size());
        accesses += access;
    }
    EXPECT_EQ(at, stream.executions.size());
    EXPECT_EQ(reader.header().accesses, accesses);
    EXPECT_EQ(reader.header().instructions, instructions);
    EXPECT_EQ(reader.header().block_executions, at);
    reader.verify();
}

bool same(const StaticInsn& a, const StaticInsn& b) {
    return a.reads == b.reads && a.writes == b.writes && a.address_reads == b.address_reads && a.kind == b.kind &&
           a.memory_slots == b.memory_slots && a.length_bytes == b.length_bytes && a.early_writes == b.early_writes &&
           a.branch == b.branch && a.string == b.string;
}

TEST(RoundTrip, BlocksKeepEveryField) {
    const std::string path = temporary_path("blocks");
    const Stream stream = random_stream(11, 2000, 40);
    write_stream(path, stream);
    const Reader reader = Reader::open(path);
    ASSERT_EQ(reader.blocks().size(), stream.blocks.size());
    for (size_t b = 0; b < stream.blocks.size(); ++b) {
        const StaticBlock &read = reader.blocks()[b], &written = stream.blocks[b];
        EXPECT_EQ(read.pc, written.pc);
        ASSERT_EQ(read.insns.size(), written.insns.size());
        for (size_t i = 0; i < read.insns.size(); ++i)
            EXPECT_TRUE(same(read.insns[i], written.insns[i])) << "block " << b << ", instruction " << i;
    }
    std::remove(path.c_str());
}

TEST(RoundTrip, FurtherLinesOfStringsAreNoInstructions) {
    StaticBlock block = make_block(0x400000, 3);
    block.insns[1].string = StringPart::begin;
    block.insns[2].string = StringPart::middle;
    EXPECT_EQ(instructions_of(block), 3u);
    EXPECT_EQ(instruction_counts({block, make_block(0x500000, 1)}), (std::vector<uint32_t>{3, 2}));
}

TEST(RoundTrip, RandomStreamsOfManySizes) {
    const std::string path = temporary_path("random");
    for (uint64_t seed = 0; seed < 60; ++seed) {
        const Stream stream = random_stream(seed, seed * seed * 5, 1 + static_cast<int>(seed) % 37);
        write_stream(path, stream);
        expect_same(path, stream);
    }
    std::remove(path.c_str());
}

TEST(RoundTrip, SeveralFramesAndSeek) {
    const std::string path = temporary_path("frames");
    const Stream stream = random_stream(7, 1'500'000, 50);
    write_stream(path, stream);
    expect_same(path, stream);
    Reader reader = Reader::open(path);
    ASSERT_GE(reader.frame_count(), 3u);
    std::vector<Frame> frames(reader.frame_count());
    for (Frame& frame : frames) ASSERT_TRUE(reader.next(frame));
    for (const size_t i : {2u, 0u, 1u, 2u}) {
        Frame again;
        reader.seek(i);
        ASSERT_TRUE(reader.next(again));
        EXPECT_EQ(again.addresses, frames[i].addresses);
        EXPECT_EQ(again.block_ids, frames[i].block_ids);
        EXPECT_EQ(again.first_access, frames[i].first_access);
        EXPECT_EQ(again.first_instruction, frames[i].first_instruction);
    }
    EXPECT_THROW(reader.seek(reader.frame_count()), TraceError);
    std::remove(path.c_str());
}

TEST(RoundTrip, HeaderAndBlocks) {
    const std::string path = temporary_path("header");
    const Stream stream = random_stream(3, 5000, 9);
    Header header = plain_header();
    header.complete_roi = false;
    header.threads = 3;
    write_stream(path, stream, header);
    const Reader reader = Reader::open(path);
    EXPECT_EQ(reader.header().program, header.program);
    EXPECT_EQ(reader.header().origin, "qemu");
    EXPECT_EQ(reader.header().threads, 3u);
    EXPECT_FALSE(reader.header().complete_roi);
    ASSERT_EQ(reader.header().pools.size(), 2u);
    EXPECT_EQ(reader.header().pools[0].kind, PoolKind::heap);
    EXPECT_EQ(reader.header().pools[1].base, 0x5000000000u);
    EXPECT_EQ(reader.header().pools[1].used_bytes, 8192u);

    std::set<uint64_t> pages, heap_pages;
    uint64_t stores = 0;
    for (const Execution& e : stream.executions) {
        for (const uint8_t store : e.is_store) stores += store;
        for (const uint64_t address : e.addresses) {
            pages.insert(address >> 12);
            if (address - 0x4000000000 < 1u << 30) heap_pages.insert(address >> 12);
        }
    }
    EXPECT_EQ(reader.header().distinct_4kb_pages, pages.size());
    EXPECT_EQ(reader.header().pools[0].distinct_4kb_pages, heap_pages.size());
    EXPECT_EQ(reader.header().stores, stores);

    ASSERT_EQ(reader.blocks().size(), stream.blocks.size());
    for (size_t b = 0; b < stream.blocks.size(); ++b) {
        EXPECT_EQ(reader.blocks()[b].pc, stream.blocks[b].pc);
        ASSERT_EQ(reader.blocks()[b].insns.size(), stream.blocks[b].insns.size());
        EXPECT_EQ(reader.blocks()[b].insns.back().reads, stream.blocks[b].insns.back().reads);
        EXPECT_EQ(reader.blocks()[b].insns.back().kind, InsnKind::branch);
        EXPECT_EQ(reader.blocks()[b].slots.size(), stream.blocks[b].slots.size());
    }
    std::remove(path.c_str());
}

TEST(RoundTrip, EmptyRegionOfInterest) {
    const std::string path = temporary_path("empty");
    write_stream(path, {});
    expect_same(path, {});
    EXPECT_EQ(Reader::open(path).frame_count(), 0u);
    std::remove(path.c_str());
}

TEST(RoundTrip, LargestCountAndBlockWithoutSlots) {
    const std::string path = temporary_path("counts");
    Stream stream;
    stream.blocks = {make_block(1, 0), make_block(2, 2)};
    for (const size_t count : {0u, 1u, 65535u, 65534u, 2u})
        for (uint32_t block = 0; block < 2; ++block)
            stream.executions.push_back({block, std::vector<uint64_t>(count, 77), std::vector<uint8_t>(count, 1)});
    write_stream(path, stream);
    expect_same(path, stream);
    std::remove(path.c_str());
}

TEST(Writer, TwoOfOneNameAtATimeDoNotMix) {
    const std::string path = temporary_path("twice");
    const auto write = [&](Writer& writer, uint64_t address) {
        const uint32_t block = writer.add_block(make_block(1, 1));
        const uint8_t load = 0;
        writer.append(block, &address, &load, 1);
    };
    Writer first = Writer::create(path), second = Writer::create(path);
    write(first, 4096), write(second, 8192);
    Header header;
    header.program = header.origin = "test";
    for (Writer* writer : {&first, &second}) {
        writer->finish(header);
        Frame frame;
        Reader reader = Reader::open(path);
        reader.verify();
        ASSERT_TRUE(reader.next(frame));
        EXPECT_EQ(frame.addresses.at(0), writer == &first ? 4096u : 8192u);
    }
    EXPECT_EQ(files_like(path).size(), 1u);
    std::remove(path.c_str());
}

TEST(Writer, FollowsALinkAndRefusesWhatIsNoFile) {
    const std::string path = temporary_path("link"), target = path + "-target";
    write_bytes(target, "old");
    std::filesystem::create_symlink(target, path);
    Writer::create(path).finish(Header{});
    EXPECT_TRUE(std::filesystem::is_symlink(path));
    EXPECT_NO_THROW(Reader::open(target));
    std::remove(path.c_str());
    std::remove(target.c_str());
    ASSERT_TRUE(std::filesystem::create_directory(path));
    EXPECT_THROW(Writer::create(path), TraceError);
    std::remove(path.c_str());
    EXPECT_THROW(Writer::create("/dev/null"), TraceError);
    EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST(Writer, ABlockHasInstructions) {
    Writer writer = Writer::create(temporary_path("empty-block"));
    EXPECT_THROW(writer.add_block({0x1000, {}, {}}), TraceError);
    EXPECT_EQ(writer.add_block(make_block(0x1000, 0)), 0u) << "the refused one has no number";
}

TEST(Writer, LeavesNothingWithoutFinish) {
    const std::string path = temporary_path("unfinished");
    {
        Writer::create(path).add_block(make_block(1, 1));
    }
    EXPECT_EQ(files_like(path), std::set<std::string>{});
}

TEST(Writer, RefusesUnknownBlocksAndFolders) {
    const std::string path = temporary_path("refuse");
    Writer writer = Writer::create(path);
    EXPECT_THROW(writer.append(0, nullptr, nullptr, 0), TraceError);
    try {
        Writer::create("/no/such/folder/x.tst");
        FAIL();
    } catch (const TraceError& error) {
        EXPECT_NE(std::string(error.what()).find("/no/such/folder/x.tst"), std::string::npos);
        EXPECT_NE(std::string(error.what()).find("what to do"), std::string::npos);
    }
}

TEST(Checksum, DependsOnContentOnly) {
    const std::string a = temporary_path("a"), b = temporary_path("b");
    Stream stream = random_stream(5, 1000, 5);
    Header other = plain_header();
    other.program = "renamed";
    write_stream(a, stream);
    write_stream(b, stream, other);
    EXPECT_EQ(Reader::open(a).header().checksum, Reader::open(b).header().checksum);
    EXPECT_EQ(Reader::open(a).header().checksum.size(), 64u);
    stream.executions[500].addresses.assign(1, 1);
    stream.executions[500].is_store.assign(1, 0);
    write_stream(b, stream);
    EXPECT_NE(Reader::open(a).header().checksum, Reader::open(b).header().checksum);
    std::remove(a.c_str());
    std::remove(b.c_str());
}

}  // namespace
}  // namespace tessera::trace::testing
