// page_state.h - the state that a pool keeps for each 4KB page and each huge page.
#pragma once

#include <sys/mman.h>

#include <cstdint>

namespace mosalloc {

constexpr uint8_t kProtMask = PROT_READ | PROT_WRITE | PROT_EXEC;  // bits 0-2, as in mprotect
constexpr uint8_t kUsed = 1 << 3;     ///< handed out
constexpr uint8_t kDirty = 1 << 4;    ///< in a window, was writable: clear it before the next owner sees it
constexpr uint8_t kOpen = kDirty;     ///< outside windows, free, but accessible: small_pages.cpp
constexpr uint8_t kForeign = 1 << 5;  ///< covered by a mapping of the program's own (a file, shared memory)
constexpr uint8_t kOdd = 1 << 6;      ///< its mapping has marks (mlock, advice, a key, a policy): end them on release
constexpr uint8_t kUnforked = 1 << 7; ///< MADV_DONTFORK: a hole in a forked child
constexpr uint8_t kMarks = kOdd | kUnforked;

/// Of a huge page, beside its protection: on demand, and not mapped now.
constexpr uint8_t kAbsent = 1 << 7;

}  // namespace mosalloc
