// SPDX-License-Identifier: GPL-2.0-only
#include "region.h"

#include <unistd.h>

#include <algorithm>
#include <string>

#include "window.h"

namespace tessera::tracer {

std::atomic<unsigned> recorded_vcpu = nobody;
Cursor cursor;
Recorder* recorder = nullptr;
Region region;

void translate_again(unsigned vcpu) {
    const Settings& settings = recorder->settings();
    if (settings.threads && (settings.roi != Roi::control || vcpu != 0 || region.was_reset)) return;
    region.was_reset = true;
    qemu_plugin_reset(region.id, [](qemu_plugin_id_t) { region.register_callbacks(); });
}

void begin_region(unsigned vcpu) {
    const Settings& settings = recorder->settings();
    if (region.stopped || region.child || region.inside) return;
    if (region.vcpus > 1 && !settings.threads)
        die("record " + settings.program + ": the program has started threads\n  what to do: record it with --threads");
    region.begun = region.inside = true;
    region.looking = settings.choice != Choice::first;
    if (!region.looking) recorded_vcpu = vcpu, region.chosen = true;
    if (settings.count_region && region.windows.begun == 0 && settings.windows > 0) region.windows.begun = 1;
    if (region.windows.in_gap || settings.windows == 0) {
        elected(vcpu);
        return begin_gap(vcpu);
    }
    const bool has_callbacks = region.instrument == Instrument::events;
    region.instrument = Instrument::events;
    elected(vcpu);
    if (!has_callbacks) translate_again(vcpu);
}

void end_region(unsigned vcpu, bool for_good) {
    const Settings& settings = recorder->settings();
    recorder->snapshot_pools();
    region.inside = region.looking = false;
    recorded_vcpu = nobody;
    region.stopped = for_good;
    if (for_good) region.control.set_limit_reached();
    if (for_good && settings.stop_when_recorded) {
        recorder->finish(region.threads_seen(), true, region_count(true));
        _exit(0);
    }
    if (settings.threads) return;
    region.instrument = Instrument::nothing;
    translate_again(vcpu);
}

bool elected(unsigned vcpu) {
    if (!region.inside || region.child) return false;
    auto& counted = region.blocks_by_thread[std::min(vcpu, max_threads - 1)];
    const uint64_t blocks = counted.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!region.looking) return false;
    const Settings& settings = recorder->settings();
    if (settings.choice == Choice::number ? vcpu != settings.thread : blocks < busiest_blocks) return false;
    if (!region.looking.exchange(false)) return false;  // another thread was found in between
    region.chosen = true;
    recorded_vcpu = vcpu;
    return true;
}

uint32_t Region::threads_seen() const {
    return static_cast<uint32_t>(
        std::count_if(blocks_by_thread.begin(), blocks_by_thread.end(), [](const auto& blocks) { return blocks != 0; }));
}

}  // namespace tessera::tracer
