// Far addresses: widths around each byte boundary, and the refusal of older versions and of impossible sizes of slots.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <random>

#include "fuzz/container.h"
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
    EXPECT_EQ(decode_frame(text, {addresses.size(), addresses.size(), addresses.size()}, slots, decoding, back), nullptr);
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

/// They lack what the clock or the count of crossed pages needs: the message names the version and says how to get a new trace.
TEST(Versions, OlderFilesAreRefused) {
    const std::string path = temporary_path("version");
    for (const char digit : {'1', '2', '3'}) {
        const std::string version(1, digit);
        Writer::create(path).finish({});
        Preamble preamble;
        std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
        file.read(reinterpret_cast<char*>(&preamble), sizeof preamble);
        EXPECT_EQ(preamble.magic, file_magic);
        std::memcpy(&preamble.magic, ("TESSTRC" + version).data(), sizeof preamble.magic);
        preamble.self_digest = self_digest(preamble);
        file.seekp(0);
        file.write(reinterpret_cast<const char*>(&preamble), sizeof preamble);
        file.close();
        try {
            Reader::open(path);
            FAIL() << "version " << version << " was read";
        } catch (const TraceError& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find("its format is version " + version + ", and this program reads version 4"), std::string::npos) << text;
            EXPECT_NE(text.find("tessera trace record"), std::string::npos) << text;
        }
    }
    std::remove(path.c_str());
}

/// The bytes of a trace with one block, whose only slot gets another size behind the writer's back.
std::string with_slot_of(uint8_t bytes, const std::string& path) {
    Writer writer = Writer::create(path);
    const uint64_t address = 0x1000;
    const uint8_t load = 0;
    writer.append(writer.add_block(one_load()), &address, &load, 1);
    writer.finish({});
    fuzz::Parts parts = fuzz::take_apart(read_bytes(path));
    parts.table.back() = static_cast<char>(bytes);
    return fuzz::seal(parts, [](Preamble&, std::vector<IndexEntry>&) {});
}

TEST(Slots, AnAccessHasOneToSixtyFourBytes) {
    const std::string path = temporary_path("slots");
    for (const int bytes : {0, 1, 8, 64, 65, 255}) {
        StaticBlock block = one_load();
        block.slots[0].size_bytes = static_cast<uint8_t>(bytes);
        write_bytes(path, with_slot_of(block.slots[0].size_bytes, path));
        if (bytes >= 1 && bytes <= 64) {
            EXPECT_EQ(Reader::open(path).blocks().at(0).slots.at(0).size_bytes, bytes);
            EXPECT_EQ(Writer::create(path).add_block(block), 0u);
            continue;
        }
        const std::string found = "memory slot 0 has " + std::to_string(bytes) + " bytes, but an access has 1 to 64";
        try {
            Reader::open(path);
            FAIL() << "a slot of " << bytes << " bytes was read";
        } catch (const TraceError& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find(path + ", block 0: " + found), std::string::npos) << text;
            EXPECT_NE(text.find("record it again"), std::string::npos) << text;
        }
        EXPECT_THROW(Writer::create(path).add_block(block), TraceError);
    }
    std::remove(path.c_str());
}

std::optional<EventSizes> no_events;

TEST(Versions, AHeaderWithoutAKeyIsRefused) {
    std::string text = header_to_text({});
    text.erase(text.find("stopped=0\n"), std::string("stopped=0\n").size());
    text.erase(text.rfind("sha256="));
    Header back;
    EXPECT_EQ(header_from_text(text + "sha256=" + sha256_hex(text) + "\n", back, no_events), "header keys are missing: it has 12 of 13");
}

/// The header's text with one line taken out, and its checksum made again.
std::string without(std::string text, const std::string& line) {
    text.erase(text.find(line), line.size());
    text.erase(text.rfind("sha256="));
    return text + "sha256=" + sha256_hex(text) + "\n";
}

TEST(Header, CountsOfTheRegionAreThereTogetherOrNotAtAll) {
    Header counted, back;
    counted.region = {true, 3, 1'000'000, 5'000'000, 18'000'000, 90'000'000, true};
    ASSERT_EQ(header_from_text(header_to_text(counted), back, no_events), "");
    EXPECT_TRUE(back.region.counted && back.region.ended);
    EXPECT_EQ(back.region.windows, 3u);
    EXPECT_EQ(back.region.window_accesses, 1'000'000u);
    EXPECT_EQ(back.region.gap_accesses, 5'000'000u);
    EXPECT_EQ(back.region.accesses_seen, 18'000'000u);
    EXPECT_EQ(back.region.instructions_seen, 90'000'000u);
    for (const char* line : {"windows=3\n", "region_ended=1\n", "gap_accesses=5000000\n"}) {
        Header partial;
        EXPECT_EQ(header_from_text(without(header_to_text(counted), line), partial, no_events), "header keys are missing: it has 18 of 19")
            << line;
    }
    EXPECT_EQ(header_to_text({}).find("region"), std::string::npos);
}

}  // namespace
}  // namespace tessera::trace::testing
