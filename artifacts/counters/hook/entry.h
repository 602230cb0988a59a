// entry.h - from a marker to the hook and back, with nothing changed for the program.
#pragma once

#include <cstdint>

namespace tessera::counters {

enum Mark : uint32_t { kBegin = 0, kEnd = 1 };

/// A marker jumps to its trampoline, which stays out of the red zone, keeps the flags, and calls tessera_roi_entry.
constexpr uint64_t kTrampolineBytes = 48;
/// Writes the trampoline for a marker of 7 bytes. `trampoline` and `marker` are addresses at most 2GB apart.
void write_trampoline(unsigned char* trampoline, uint64_t marker, Mark mark);
/// Writes the jump to `trampoline` over the marker.
void write_jump(unsigned char* marker, uint64_t trampoline);

}  // namespace tessera::counters
