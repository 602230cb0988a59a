// The parts below the container: digests, and decoders on text without the protection of a checksum.
#include <gtest/gtest.h>

#include "lib/block_stream.h"
#include "lib/digest.h"
#include "lib/frame_codec.h"
#include "lib/sha256.h"
#include "streams.h"

namespace tessera::trace::testing {
namespace {

TEST(Sha256, PublishedVectors) {
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(Digest, EveryBitAndTheLengthCount) {
    std::string text(100, 'x');
    const Digest whole = digest(text.data(), text.size());
    for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
        std::string changed = text;
        changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ 1 << bit % 8);
        EXPECT_NE(digest(changed.data(), changed.size()), whole) << bit;
    }
    text.push_back('\0');
    EXPECT_NE(digest(text.data(), text.size()), digest(text.data(), text.size() - 1));
}

TEST(BlockStream, LoopsCostNothing) {
    std::vector<uint32_t> ids, back;
    for (int i = 0; i < 100000; ++i) ids.push_back(i % 10);
    const std::string text = encode_blocks(ids, 10);
    EXPECT_LT(text.size(), 60u);
    ASSERT_TRUE(decode_blocks(text.data(), text.size(), ids.size(), 10, back));
    EXPECT_EQ(back, ids);
    EXPECT_FALSE(decode_blocks(text.data(), text.size(), ids.size() - 1, 10, back));
    EXPECT_FALSE(decode_blocks(text.data(), text.size(), ids.size() + 1, 10, back));
    EXPECT_FALSE(decode_blocks(text.data(), text.size() - 1, ids.size(), 10, back));
}

/// The checksum in the index normally keeps damaged text away from decode_frame; here it gets it directly.
TEST(FrameCodec, MutatedTextNeverLeavesTheBuffers) {
    const Stream stream = random_stream(21, 400, 8);
    SlotMap slots;
    for (const StaticBlock& block : stream.blocks) slots.add(block);
    Frame frame;
    for (const Execution& e : stream.executions) {
        frame.block_ids.push_back(e.block);
        frame.access_counts.push_back(static_cast<uint16_t>(e.addresses.size()));
        frame.addresses.insert(frame.addresses.end(), e.addresses.begin(), e.addresses.end());
        frame.is_store.insert(frame.is_store.end(), e.is_store.begin(), e.is_store.end());
        frame.instructions += slots.instructions(e.block);
    }
    EncodeBuffers buffers;
    const std::string text = encode_frame(content_of(frame), slots, buffers);
    const FrameShape shape{frame.block_ids.size(), frame.addresses.size(), frame.instructions};
    DecodeBuffers decoding;
    Frame back;
    ASSERT_EQ(decode_frame(text, shape, slots, decoding, back), nullptr);
    EXPECT_EQ(frame_digest(content_of(back)), frame_digest(content_of(frame)));
    std::mt19937_64 random(5);
    int refused = 0;
    for (int run = 0; run < 20000; ++run) {
        std::string damaged = text;
        damaged[random() % damaged.size()] = static_cast<char>(random());
        if (run % 5 == 0) damaged.resize(random() % damaged.size());
        refused += decode_frame(damaged, shape, slots, decoding, back) != nullptr;
    }
    EXPECT_GT(refused, 4000);
}

}  // namespace
}  // namespace tessera::trace::testing
