// inline.h - included first by every file of the vector code.
//
// Vector code is compiled once per instruction set, in a namespace of its own (TESSERA_ISA), so that the builds share
// no symbol. It uses nothing of the C++ library that has inline code: a template instantiated with AVX-512 enabled
// could be the copy that the linker keeps for everyone.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(TESSERA_OUT_OF_LINE)  // sanitizer builds, which would take long to compile (engine/timing/part.h)
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
