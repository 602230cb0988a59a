// allocator_test.cpp - no two pages of a layout share a byte of physical memory, and none meets the page tables.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "os/allocator.h"
#include "os/physical_map.h"
#include "support/random_inputs.h"

namespace tessera::sim::testing {
namespace {

struct Span {
    uint64_t begin, end;
};

/// The physical spans of all pages of 4GB of heap, and that each is whole and aligned.
std::vector<Span> spans(Allocator& allocator, const AddressSpace& space) {
    std::vector<Span> all;
    for (uint64_t at = heap_base; at < heap_base + (uint64_t{4} << 30);) {
        const PageSize size = space.page_size(VirtAddr(at));
        const uint64_t bytes = bytes_of(size).value, first = allocator.physical(VirtAddr(at), size).value;
        EXPECT_EQ(first % bytes, 0u);
        EXPECT_EQ(allocator.physical(VirtAddr(at + bytes - 1), size).value, first + bytes - 1);
        EXPECT_EQ(allocator.physical(VirtAddr(at + bytes / 3), size).value, first + bytes / 3);
        all.push_back({first, first + bytes});
        at += bytes;
    }
    return all;
}

TEST(Allocators, GiveNoByteToTwoPages) {
    for (const std::string& name : allocators().names())
        for (uint64_t seed = 0; seed < 4 && name != "mapped"; ++seed) {  // whose frames are those of a checked file
            RandomInputs random(seed);
            const Layout layout = random.layout(seed);
            const AddressSpace space({{trace::PoolKind::heap, heap_base, uint64_t{4} << 30, 0}}, layout);
            const auto allocator = allocators().make(name, space, Platform());
            auto all = spans(*allocator, space);
            std::sort(all.begin(), all.end(), [](const Span& a, const Span& b) { return a.begin < b.begin; });
            for (size_t i = 0; i < all.size(); ++i) {
                if (i > 0) {
                    ASSERT_LE(all[i - 1].end, all[i].begin) << name;
                }
                ASSERT_TRUE(all[i].end <= page_table_base || all[i].begin >= page_table_end) << name;
                ASSERT_TRUE(all[i].end <= physical::logged_above.begin || all[i].begin >= physical::logged_above.end) << name;
                ASSERT_LT(all[i].end, physical::limit) << name;
            }
        }
}

TEST(Scattered, PermutesAllGigabytesOfTheAddressSpace) {
    const AddressSpace space({}, all_4kb());
    const auto allocator = allocators().make("scattered", space, Platform());
    std::set<uint64_t> frames;
    for (uint64_t page = 0; page < uint64_t{1} << 18; ++page)
        frames.insert(allocator->physical(VirtAddr(page << 30), PageSize::huge_1gb).value >> 30);
    EXPECT_EQ(frames.size(), size_t{1} << 18);
    EXPECT_EQ(*frames.rbegin() - *frames.begin(), (uint64_t{1} << 18) - 1);
}

// Neighbours in 4KB pages become strangers: of 4096 consecutive pages hardly two stay neighbours, and sets of a 2MB-way cache fill evenly.
TEST(Scattered, BreaksUpNeighbours) {
    const AddressSpace space({}, all_4kb());
    const auto allocator = allocators().make("scattered", space, Platform());
    std::vector<int> pages_of_colour(512);
    int neighbours = 0;
    uint64_t before = 0;
    for (uint64_t page = 0; page < 4096; ++page) {
        const uint64_t frame = allocator->physical(VirtAddr(heap_base + (page << 12)), PageSize::small_4kb).value >> 12;
        neighbours += frame == before + 1;
        ++pages_of_colour[frame % 512];
        before = frame;
    }
    EXPECT_LE(neighbours, 1);
    double chi_squared = 0;  // 511 degrees of freedom: mean 511, standard deviation 32
    for (int pages : pages_of_colour) chi_squared += (pages - 8.0) * (pages - 8.0) / 8.0;
    EXPECT_NEAR(chi_squared, 511, 5 * 32);
}

}  // namespace
}  // namespace tessera::sim::testing
