// types.h - separate types for the quantities that the simulator must never mix up.
//
// Each is an explicit wrapper around uint64_t: a page number cannot be passed where an address is asked for,
// and cycles do not add to bytes. Raw integers appear only where tags are packed (engine/lanes).
#pragma once

#include <compare>
#include <cstdint>

namespace tessera::sim {

template <class Tag>
struct Quantity {
    uint64_t value = 0;
    constexpr Quantity() = default;
    constexpr explicit Quantity(uint64_t v) : value(v) {}
    constexpr auto operator<=>(const Quantity&) const = default;
};

using VirtAddr = Quantity<struct VirtAddrTag>;
using PhysAddr = Quantity<struct PhysAddrTag>;
using LineNumber = Quantity<struct LineNumberTag>;  ///< physical address / 64
using Bytes = Quantity<struct BytesTag>;

/// Addresses from begin to before end.
struct VirtRange {
    VirtAddr begin, end;
    constexpr bool operator==(const VirtRange&) const = default;
};

struct Cycles : Quantity<struct CyclesTag> {
    using Quantity::Quantity;
    constexpr Cycles operator+(Cycles o) const { return Cycles(value + o.value); }
    constexpr Cycles& operator+=(Cycles o) {
        value += o.value;
        return *this;
    }
};

inline constexpr uint64_t kib = 1024, mib = 1024 * kib, gib = 1024 * mib;
inline constexpr unsigned line_shift = 6;  ///< 64-byte cache lines on every modelled processor

/// The three page sizes of x86-64; the value is the base-2 logarithm.
enum class PageSize : uint8_t { small_4kb = 12, large_2mb = 21, huge_1gb = 30 };

constexpr unsigned shift_of(PageSize size) { return static_cast<unsigned>(size); }
constexpr Bytes bytes_of(PageSize size) { return Bytes(uint64_t{1} << shift_of(size)); }

/// A virtual page: its number is meaningless without its size, so the two travel together.
struct PageNumber {
    uint64_t number = 0;
    PageSize size = PageSize::small_4kb;
    constexpr auto operator<=>(const PageNumber&) const = default;
};

constexpr PageNumber page_of(VirtAddr address, PageSize size) { return {address.value >> shift_of(size), size}; }
constexpr bool overlaps(PageNumber page, VirtRange range) {
    const uint64_t begin = page.number << shift_of(page.size);
    return begin < range.end.value && range.begin.value < begin + bytes_of(page.size).value;
}
constexpr LineNumber line_of(PhysAddr address) { return LineNumber(address.value >> line_shift); }

}  // namespace tessera::sim
