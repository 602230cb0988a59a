// touches_test.cpp - the first access to each page of the pools, against a set that is asked for every access.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "cli/commands.h"
#include "streams.h"

namespace tessera::trace {
namespace {

using namespace testing;

std::string content(const std::string& path) {
    std::ifstream file(path);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

class Touches : public ::testing::Test {
protected:
    std::string trace = temporary_path("touches-trace"), out = temporary_path("touches-csv");
    void TearDown() override {
        std::remove(trace.c_str());
        std::remove(out.c_str());
    }
};

TEST_F(Touches, AreThoseOfASlowSearch) {
    const Stream stream = random_stream(11, 50'000, 12);
    Header header = plain_header();
    // pools where the stream has most of its addresses, at both sides of a border
    header.pools = {{PoolKind::heap, 0x3fc0000000, uint64_t{1} << 30, 4096}, {PoolKind::anon, 0x4000000000, uint64_t{1} << 29, 8192}};
    write_stream(trace, stream, header);
    cli::touches(trace, out);
    std::string expected = "pool,page,access\n";
    std::set<std::pair<int, uint64_t>> seen;
    uint64_t access = 0, second_pages = 0;
    for (const Execution& execution : stream.executions) {
        const StaticBlock& block = stream.blocks[execution.block];
        for (size_t i = 0; i < execution.addresses.size(); ++i, ++access) {
            uint64_t bytes = 1;  // an access of a string instruction stays in its line
            if (!block.slots.empty())
                if (const MemorySlot& slot = block.slots[std::min(i, block.slots.size() - 1)];
                    block.insns[slot.insn].string == StringPart::none)
                    bytes = slot.size_bytes;
            for (uint64_t address = execution.addresses[i], end = address + bytes; address != end; ++address)
                for (int pool = 0; pool < 2; ++pool) {
                    const Pool& p = header.pools[pool];
                    if (address < p.base || address >= p.base + p.size_bytes) continue;
                    const uint64_t page = (address - p.base) / 4096;
                    if (!seen.insert({pool, page}).second) continue;
                    expected += (pool == 0 ? "brk," : "mmap,") + std::to_string(page) + "," + std::to_string(access) + "\n";
                    second_pages += address != execution.addresses[i];
                }
        }
    }
    EXPECT_GT(seen.size(), 10u);
    EXPECT_GT(second_pages, 10u);
    EXPECT_EQ(content(out), expected);
}

TEST_F(Touches, AMissingTraceLeavesNoFile) {
    EXPECT_THROW(cli::touches(trace + "-missing", out), TraceError);
    EXPECT_FALSE(std::ifstream(out).good());
}

}  // namespace
}  // namespace tessera::trace
