#include "hook/control.h"

#include <ctime>
#include <linux/perf_event.h>

#include "counters/clock.h"
#include "tessera/common/system_calls.h"

namespace tessera::counters {
namespace {

Control g_control;

uint64_t read_clock() {
    timespec time = {};
    sys::call(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, reinterpret_cast<long>(&time));
    return nanoseconds(time);
}

/// Without PERF_IOC_FLAG_GROUP: the members are enabled always, and count while their leader does. So they begin and end at
/// the same instant as it.
void set(int index, unsigned long request) {
    const long result = sys::call(SYS_ioctl, g_control.first + index, static_cast<long>(request));
    int32_t none = 0;
    if (sys::failed(result))
        __atomic_compare_exchange_n(&g_control.page->control_errno, &none, static_cast<int32_t>(-result), false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

void count(uint32_t* field) { __atomic_add_fetch(field, 1, __ATOMIC_RELAXED); }

/// True for the one of several threads that changes the state.
bool change(RegionState from, RegionState to) {
    uint32_t found = from;
    return __atomic_compare_exchange_n(&g_control.page->open, &found, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

}  // namespace

Control& control() { return g_control; }

void begin_region() {
    RegionPage* page = g_control.page;
    if (!change(kClosed, kOpen)) return count(&page->nested);
    count(&page->begun);
    const int last = g_control.count - 1;
    for (int i = 0; i < last; ++i) set(i, PERF_EVENT_IOC_ENABLE);
    __atomic_store_n(&page->begin_ns, read_clock(), __ATOMIC_RELAXED);
    set(last, PERF_EVENT_IOC_ENABLE);
}

void end_region() {
    RegionPage* page = g_control.page;
    if (!change(kOpen, kEnding)) return count(&page->stray);
    const int last = g_control.count - 1;
    set(last, PERF_EVENT_IOC_DISABLE);
    const uint64_t now = read_clock();
    for (int i = last - 1; i >= 0; --i) set(i, PERF_EVENT_IOC_DISABLE);
    __atomic_add_fetch(&page->region_ns, now - __atomic_load_n(&page->begin_ns, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
    count(&page->ended);
    __atomic_store_n(&page->open, kClosed, __ATOMIC_RELEASE);
}

}  // namespace tessera::counters
