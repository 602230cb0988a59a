// level.h - the four levels of an x86-64 page table, top down.
#pragma once

#include "base/types.h"

namespace tessera::sim {

enum class Level : uint8_t { pml4e = 0, pdpte = 1, pde = 2, pte = 3 };

/// One entry of this level maps 2^shift bytes.
constexpr unsigned coverage_shift(Level level) { return 39 - 9 * static_cast<unsigned>(level); }

constexpr Level next(Level level) { return static_cast<Level>(static_cast<unsigned>(level) + 1); }

/// The level whose entry maps a page of this size.
constexpr Level leaf_level(PageSize size) {
    return size == PageSize::small_4kb ? Level::pte : size == PageSize::large_2mb ? Level::pde : Level::pdpte;
}

}  // namespace tessera::sim
