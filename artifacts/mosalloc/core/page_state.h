// page_state.h - the state byte that a pool keeps for each 4KB page.
#pragma once

#include <sys/mman.h>

#include <cstdint>

namespace mosalloc {

constexpr uint8_t kProtMask = PROT_READ | PROT_WRITE | PROT_EXEC;  // bits 0-2, as in mprotect
constexpr uint8_t kUsed = 1 << 3;     ///< handed out
constexpr uint8_t kDirty = 1 << 4;    ///< in a window, handed out before: clear it before the next owner sees it
constexpr uint8_t kForeign = 1 << 5;  ///< covered by a mapping of the program's own (MAP_FIXED file or shared)

}  // namespace mosalloc
