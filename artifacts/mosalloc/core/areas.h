// areas.h - how Space divides a range of addresses: parts inside a pool, and parts outside that the kernel handles.
#pragma once

#include "core/space.h"
#include "core/sys.h"

namespace mosalloc {

/// Calls f(pool or null, address range) for the parts of `addresses` inside and outside the pools, ascending.
template <class F>
long Space::for_each_area(Range addresses, F f) {
    while (!addresses.empty()) {
        Range part = addresses;
        Pool* inside = nullptr;
        for (Pool& pool : pools_) {
            const Range span = pool.span();
            if (span.start <= part.start && part.start < span.end) {
                inside = &pool;
                part = part.clip(span);
            } else if (part.start < span.start && span.start < part.end && !span.empty()) {
                part.end = span.start;
            }
        }
        const long result = f(inside, part);
        if (sys::failed(result)) return result;
        addresses.start = part.end;
    }
    return 0;
}

template <class Inside, class Outside>
long Space::over(Range addresses, Inside inside, Outside outside) {
    return for_each_area(addresses, [&](Pool* pool, Range part) -> long {
        if (pool == nullptr) return outside(part);
        const long result = inside(pool, pool->offsets(part));
        served(kind_of(pool));
        return result;
    });
}

}  // namespace mosalloc
