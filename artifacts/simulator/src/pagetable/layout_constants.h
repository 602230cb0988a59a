// layout_constants.h - the physical addresses of page tables.
#pragma once

#include <cstdint>

namespace tessera::sim {

/// The simulator rejects addresses at and above this one (os/address_limit.h).
inline constexpr uint64_t address_limit = uint64_t{1} << 48;

/// Just above the addresses of a program whose physical = virtual, so the two never meet.
inline constexpr uint64_t page_table_base = address_limit;

/// Room for tables: 2^27 regions of 2MB need 2^27 page tables and few more.
inline constexpr uint64_t page_table_end = page_table_base + (uint64_t{1} << 40);

}  // namespace tessera::sim
