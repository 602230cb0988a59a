// events.h - tells the tracer which calls had an effect (mosalloc/events.h). Without MOSALLOC_EVENTS this is no code at all.
#pragma once

#include "mosalloc/events.h"
#include "mosalloc/pool_map.h"

#include "core/base.h"
#include "core/sys.h"

namespace mosalloc {

#ifdef MOSALLOC_EVENTS
constexpr bool kTellsEvents = true;
#else
constexpr bool kTellsEvents = false;
#endif

inline void tell_event(const mosalloc_event& event) {
    if constexpr (kTellsEvents) sys::call(MOSALLOC_EVENT_CALL, reinterpret_cast<long>(&event));
}

/// Over a range: munmap, mprotect, madvise, mlock and their relatives.
inline void tell_range(mosalloc_call call, Range addresses, int protection, int flags, bool at_hole = false) {
    if constexpr (kTellsEvents) {
        mosalloc_event event = {};
        event.call = call;
        event.address = align_down(addresses.start, kPage4K);
        event.bytes = align_up(addresses.end, kPage4K) - event.address;
        event.protection = static_cast<uint32_t>(protection);
        event.flags = static_cast<uint32_t>(flags);
        event.fd = -1;
        event.at_hole = at_hole ? 1 : 0;
        tell_event(event);
    }
}

inline void tell_map(uint64_t address, uint64_t bytes, int protection, int flags, int fd, uint64_t offset) {
    if constexpr (kTellsEvents) {
        const bool anonymous = (flags & MAP_ANONYMOUS) != 0;
        mosalloc_event event = {};
        event.call = MOSALLOC_CALL_MMAP;
        event.address = address;
        event.bytes = align_up(bytes, kPage4K);
        event.protection = static_cast<uint32_t>(protection);
        event.flags = static_cast<uint32_t>(flags);
        event.fd = anonymous ? -1 : fd;
        event.file_offset = anonymous ? 0 : offset;
        tell_event(event);
    }
}

inline void tell_remap(uint64_t old, uint64_t old_bytes, uint64_t address, uint64_t bytes, int flags) {
    if constexpr (kTellsEvents) {
        mosalloc_event event = {};
        event.call = MOSALLOC_CALL_MREMAP;
        event.address = old;
        event.bytes = align_up(old_bytes, kPage4K);
        event.new_address = address;
        event.new_bytes = align_up(bytes, kPage4K);
        event.flags = static_cast<uint32_t>(flags);
        event.fd = -1;
        tell_event(event);
    }
}

inline void tell_break(mosalloc_call call, uint64_t heap, uint64_t bytes) {
    if constexpr (kTellsEvents) {
        mosalloc_event event = {};
        event.call = call;
        event.address = heap;
        event.bytes = bytes;
        event.fd = -1;
        tell_event(event);
    }
}

/// The areas that exist already, outside the pools: program, libraries, stack, the library's own tables.
void tell_first_areas();

}  // namespace mosalloc
