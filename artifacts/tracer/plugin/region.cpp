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
    if (region.stopped || region.child) return;
    if (settings.choice == Choice::first && region.chosen && region.number_of(vcpu) != region.recorded_number) return;
    if (region.inside.exchange(true)) return;
    if (region.created > 1 && !settings.threads)
        die({"record " + settings.program, "the program has started threads", "record it with --threads"});
    region.begun = true;
    region.beginner = region.number_of(vcpu);
    if (region.chosen) recorded_vcpu = region.recorded_slot;
    else if (settings.choice == Choice::first) region.choose(vcpu);
    else region.looking = true;
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
        recorder->finish([](uint64_t blocks) { return region.threads(blocks); }, true, region_count(true));
        _exit(0);
    }
    if (settings.threads) return;
    region.instrument = Instrument::nothing;
    translate_again(vcpu);
}

bool elected(unsigned vcpu) {
    if (!region.inside || region.child) return false;
    const uint64_t blocks = region.slots[vcpu].blocks.fetch_add(1, std::memory_order_relaxed) + 1;
    if (!region.looking) return false;
    const Settings& settings = recorder->settings();
    if (settings.choice == Choice::number ? region.number_of(vcpu) != settings.thread : blocks < busiest_blocks) return false;
    if (!region.looking.exchange(false)) return false;  // another thread was found in between
    region.choose(vcpu);
    return true;
}

void Region::add_thread(unsigned vcpu) {
    if (vcpu >= max_slots)
        die({"record " + recorder->settings().program, "it has more than " + std::to_string(max_slots) + " threads at the same time",
             "run it with fewer threads"});
    Slot& slot = slots[vcpu];
    if (recorded_slot == vcpu) {  // the chosen thread has ended
        recorded_slot = nobody;
        recorded_vcpu = nobody;
    }
    const uint64_t blocks = slot.blocks.exchange(0);
    ended_threads += blocks != 0;
    ended_blocks += blocks;
    slot.number = created++;
}

void Region::choose(unsigned vcpu) {
    chosen = true;
    recorded_number = number_of(vcpu);
    recorded_slot = vcpu;
    recorded_vcpu = vcpu;
}

Threads Region::threads(uint64_t recorded_blocks) const {
    Threads found{ended_threads, recorded_number, recorded_blocks, ended_blocks + recorded_blocks};
    for (unsigned vcpu = 0; vcpu < std::min(created, max_slots); ++vcpu) {
        const uint64_t blocks = slots[vcpu].blocks;
        found.count += blocks != 0;
        found.all_blocks += blocks;
    }
    return found;
}

}  // namespace tessera::tracer
