// Far addresses: widths around each byte boundary, and what version 1 had instead.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "lib/block_stream.h"
#include "lib/bytes.h"
#include "lib/container.h"
#include "lib/frame_codec.h"
#include "lib/sha256.h"
#include "tests/streams.h"

namespace tessera::trace::testing {
namespace {

StaticBlock one_load() { return {0x1000, {{0, 0, 0, InsnKind::load, 1, 3}}, {{0, 0, 8}}}; }

std::vector<uint64_t> through_the_codec(const std::vector<uint64_t>& addresses, size_t* bytes = nullptr) {
    SlotMap slots;
    slots.add(one_load());
    Frame frame, back;
    frame.block_ids.assign(addresses.size(), 0);
    frame.access_counts.assign(addresses.size(), 1);
    frame.addresses = addresses;
    frame.is_store.assign(addresses.size(), 0);
    frame.instructions = addresses.size();
    EncodeBuffers encoding;
    DecodeBuffers decoding;
    const std::string text = encode_frame(content_of(frame), slots, encoding);
    if (bytes) *bytes = text.size();
    EXPECT_EQ(decode_frame(text, 2, {addresses.size(), addresses.size(), addresses.size()}, slots, decoding, back), nullptr);
    return back.addresses;
}

/// A span of 2^bits bytes, its ends included, in steps of 2^shift; alternating ends are far from both anchors.
TEST(FarAddresses, EveryWidthAndShift) {
    for (int bits = 25; bits < 48; ++bits)
        for (int shift = 0; shift <= 12; ++shift) {
            const uint64_t base = 0x7f1234560000, top = base + ((uint64_t{1} << bits) >> shift << shift);
            std::vector<uint64_t> addresses;
            for (uint64_t i = 0; i < 20; ++i) addresses.push_back(i % 2 ? top - (i / 2 << shift) : base + (i * i << shift));
            EXPECT_EQ(through_the_codec(addresses), addresses) << bits << " bits, shift " << shift;
        }
    const std::vector<uint64_t> extremes = {0, ~uint64_t{0}, 1, uint64_t{1} << 63, 2};
    EXPECT_EQ(through_the_codec(extremes), extremes);
}

/// 8-byte words of 4GB across a 4GB boundary: 29 bits, so four bytes; a shift of 0 would need five.
TEST(FarAddresses, WordsOfFourGigabytesTakeFourBytes) {
    std::mt19937_64 random(3);
    std::vector<uint64_t> addresses(10000);
    for (uint64_t& address : addresses) address = 0x7f0040000000 + random() % (uint64_t{1} << 29) * 8;
    size_t bytes = 0;
    EXPECT_EQ(through_the_codec(addresses, &bytes), addresses);
    EXPECT_LT(bytes, addresses.size() * 5 + 100);  // a code and at most four bytes each
}

/// Version 1 as it was written: code 8 is the whole address, 7 its low half, 2 a byte after the last address.
TEST(FarAddresses, VersionOneIsRead) {
    SlotMap slots;
    slots.add(one_load());
    const std::string blocks = encode_blocks(std::vector<uint32_t>(3, 0), 1);
    std::string text;
    put_varint(text, blocks.size());
    text += blocks;
    for (int section = 0; section < 2; ++section) put_varint(text, 1), put_varint(text, 0);
    text += std::string("\x08\x07\x02", 3);
    text += std::string("\xfc", 1);                // last_1: -4
    text += std::string("\x78\x56\x34\x12", 4);   // low_4, a plane of one byte each
    put(text, uint64_t{0x7f0011223344});          // raw_8
    Frame frame;
    DecodeBuffers buffers;
    ASSERT_EQ(decode_frame(text, 1, {3, 3, 3}, slots, buffers, frame), nullptr);
    EXPECT_EQ(frame.addresses, (std::vector<uint64_t>{0x7f0011223344, 0x7f0012345678, 0x7f0012345674}));
    EXPECT_NE(decode_frame(text, 2, {3, 3, 3}, slots, buffers, frame), nullptr);
}

TEST(FarAddresses, AFileOfVersionOneIsOpened) {
    const std::string path = temporary_path("version1");
    Writer writer = Writer::create(path);
    writer.finish({});
    Preamble preamble;
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.read(reinterpret_cast<char*>(&preamble), sizeof preamble);
    EXPECT_EQ(preamble.magic, file_magic);
    preamble.magic = file_magic_1;
    preamble.self_digest = self_digest(preamble);
    file.seekp(0);
    file.write(reinterpret_cast<const char*>(&preamble), sizeof preamble);
    file.close();
    EXPECT_EQ(Reader::open(path).frame_count(), 0u);
    Header header;
    header.program = "old";
    std::string text = header_to_text(header);
    for (const char* key : {"kernel_modelled=0\n", "kernel_accesses=0\n", "stopped=0\n"}) text.erase(text.find(key), std::string(key).size());
    text.erase(text.rfind("sha256="));
    Header back;
    EXPECT_EQ(header_from_text(text + "sha256=" + sha256_hex(text) + "\n", back), "");
    EXPECT_EQ(back.program, "old");
    std::remove(path.c_str());
}

}  // namespace
}  // namespace tessera::trace::testing
