// SPDX-License-Identifier: GPL-2.0-only
#include "window.h"

#include "access_units.h"

namespace tessera::tracer {

void begin_gap(unsigned vcpu) {
    const Settings& settings = recorder->settings();
    Windows& windows = region.windows;
    windows.in_gap = true;
    windows.last = windows.begun >= settings.windows;
    windows.next_at = windows.begun * (settings.window_accesses + settings.gap_accesses) * units_per_access;
    recorded_vcpu = nobody;
    region.instrument = Instrument::gap;
    translate_again(vcpu);
}

void on_gap_block(unsigned vcpu, void* units) {
    Windows& windows = region.windows;
    if (windows.units + reinterpret_cast<uint64_t>(units) < windows.next_at) [[likely]]
        return;
    if (!windows.in_gap || windows.last || region.child) return;
    windows.in_gap = false;
    ++windows.begun;
    recorder->begin_window();
    recorded_vcpu = vcpu;
    region.instrument = Instrument::events;
    translate_again(vcpu);
}

void count_now(uint64_t units, uint64_t insns) {
    if (!recorder->settings().count_region) return;
    region.windows.units += units;
    region.windows.insns += insns;
}

trace::RegionCount region_count(bool stopped) {
    const Settings& settings = recorder->settings();
    if (!settings.count_region) return {};
    trace::RegionCount out;
    out.counted = true;
    out.windows = region.windows.begun;
    out.window_accesses = settings.window_accesses;
    out.gap_accesses = settings.gap_accesses;
    out.accesses_seen = region.windows.units / units_per_access;
    out.instructions_seen = region.windows.insns;
    out.ended = !stopped;
    return out;
}

}  // namespace tessera::tracer
