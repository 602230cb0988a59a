// layout_constants.h - where page tables are in physical memory.
#pragma once

#include <cstdint>

namespace tessera::sim {

/// User addresses end below 2^47, and program data has physical = virtual, so the two never meet.
inline constexpr uint64_t page_table_base = uint64_t{1} << 47;

}  // namespace tessera::sim
