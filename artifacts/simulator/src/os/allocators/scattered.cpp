// scattered.cpp - memory of a long-running machine: neighbouring pages have unrelated frames; each page is contiguous.
//
// Each page size has its own physical region, as large as the virtual address space, and a fixed pseudo-random permutation
// of that region's frames. The permutations are Feistel networks on the page number (Luby and Rackoff 1988), so they are
// one to one by construction and need neither a table nor a seed. In large pages, lines keep their distance and spread
// evenly over cache sets; with 4KB pages, set indices above bit 12 are random.
#include "os/allocator.h"
#include "os/physical_map.h"

namespace tessera::sim {
namespace {

/// A Feistel network is one to one for any round function; this one is the finalizer of splitmix64.
uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// A permutation of the numbers below 2^bits. Halves may differ in width; each round changes one of them.
uint64_t permute(uint64_t number, unsigned bits) {
    const unsigned low_bits = bits / 2;
    const uint64_t low_mask = (uint64_t{1} << low_bits) - 1, high_mask = (uint64_t{1} << (bits - low_bits)) - 1;
    uint64_t low = number & low_mask, high = number >> low_bits;
    for (uint64_t round = 1; round <= 4; round += 2) {
        high ^= mix(low + (round << 40)) & high_mask;
        low ^= mix(high + ((round + 1) << 40)) & low_mask;
    }
    return high << low_bits | low;
}

class Scattered final : public Allocator {
public:
    PhysAddr physical(VirtAddr address, PageSize size) override {
        const unsigned shift = shift_of(size);
        const uint64_t inside = address.value & (bytes_of(size).value - 1);
        const uint64_t frame = permute(address.value >> shift, address_bits - shift);
        return PhysAddr(region(size) + (frame << shift) + inside);
    }

private:
    static constexpr unsigned address_bits = 48;
    static_assert(address_limit == uint64_t{1} << address_bits);
    static uint64_t region(PageSize size) {
        return (size == PageSize::small_4kb   ? physical::program
                : size == PageSize::large_2mb ? physical::scattered_2mb
                                              : physical::scattered_1gb)
            .begin;
    }
};

const Registered row(allocators(), "scattered", "frames permuted at random, pages contiguous and aligned, as on a long-running machine",
                     [](const AddressSpace&, const Platform&) { return std::make_unique<Scattered>(); });

}  // namespace
}  // namespace tessera::sim
