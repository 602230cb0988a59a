// inline.h - included first by every file of the vector code.
//
// Vector code is compiled once per instruction set, each in its own namespace (TESSERA_ISA), so that the builds share
// no symbol. It must not use inline code of the C++ library: the linker keeps one copy of a template for the whole
// program, and this could be a copy compiled with AVX-512.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(TESSERA_OUT_OF_LINE)  // builds that would take long to compile (engine/timing/part.h)
#define LANES_INLINE [[maybe_unused]] static inline
#define LANES_INLINE_MEMBER inline
#else
#define LANES_INLINE static inline __attribute__((always_inline))
#define LANES_INLINE_MEMBER inline __attribute__((always_inline))
#endif

namespace tessera::sim::lanes {
/// Throws std::bad_alloc (compiled once, for any processor).
[[noreturn]] void out_of_memory();
}  // namespace tessera::sim::lanes
