// SPDX-License-Identifier: GPL-2.0-only
// plugin.cpp - the QEMU side: which code is instrumented when, and the callbacks that it runs.
//
// Usage: qemu-x86_64 -plugin libtessera-trace.so,settings=FILE program ...
//
// Outside the region of interest nothing is instrumented: its begin marker resets the plugin, which makes QEMU
// translate everything again, now with callbacks, and its end marker resets again. QEMU 7.2 keeps its
// plugin lock after a reset, so a thread that starts or ends later would hang. Programs with threads are
// therefore recorded with `threads=1`: instrumented from the start, slower outside the region. Only the
// first thread that enters the region is recorded; the others are counted.
#include <pthread.h>
// QEMU 7.2's header has no C++ linkage of its own.
extern "C" {
#include <qemu-plugin.h>
}

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "marker.h"
#include "recorder.h"

extern "C" {
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv);
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

namespace tessera::tracer {
namespace {

constexpr unsigned nobody = ~0u;

// Read by every callback, so plain globals of this file.
unsigned recorded_vcpu = nobody;
Recorder* recorder = nullptr;

struct State {
    qemu_plugin_id_t id = 0;
    bool instrument = false;  ///< newly translated blocks get callbacks
    bool begun = false;
    bool stopped = false;     ///< the limit was reached: markers mean nothing any more
    bool was_reset = false;
    bool child = false;       ///< a forked child: it is not recorded
    bool whole_pending = false;
    bool roi_known = false;
    uint64_t code_begin = 0, code_end = 0;
    unsigned vcpus = 0;
    std::mutex mutex;         ///< of what threads share below
    std::map<unsigned, bool> threads_seen;
    std::map<std::pair<uint64_t, std::string>, std::unique_ptr<TranslatedBlock>> blocks;
};
State state;

void register_callbacks();

void translate_again() {
    if (recorder->settings().threads) return;
    state.was_reset = true;
    qemu_plugin_reset(state.id, [](qemu_plugin_id_t) { register_callbacks(); });
}

void stop_recording(bool for_good) {
    recorder->snapshot_pools();
    recorded_vcpu = nobody;
    state.instrument = recorder->settings().threads && !for_good;
    state.stopped = for_good;
    translate_again();
}

void other_thread(unsigned vcpu) {
    if (recorded_vcpu == nobody || state.child) return;
    std::lock_guard lock(state.mutex);
    state.threads_seen[vcpu] = true;
}

void on_block(unsigned vcpu, void* block) {
    if (vcpu != recorded_vcpu) return other_thread(vcpu);
    if (!recorder->block(static_cast<const TranslatedBlock*>(block))) stop_recording(true);
}

void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* insn_tag) {
    if (vcpu != recorded_vcpu) return;
    const Event tag = reinterpret_cast<Event>(insn_tag);
    recorder->access(address | tag | (qemu_plugin_mem_is_store(info) ? memory_tag(0, true) : 0));
}

void on_begin(unsigned vcpu, void* tail) {
    if (state.stopped || state.child) return;
    if (recorded_vcpu == nobody) {
        if (state.vcpus > 1 && !recorder->settings().threads)
            die("record " + recorder->settings().program + ": it has started threads\n  what to do: record it with --threads");
        recorded_vcpu = vcpu;
        state.begun = true;
        state.instrument = true;
        other_thread(vcpu);
        translate_again();
    }
    if (tail) on_block(vcpu, tail);
}

/// In whole mode the first block of the program's own code is a begin marker.
void on_program_start(unsigned vcpu, void* block) {
    if (state.begun) return on_block(vcpu, block);
    on_begin(vcpu, block);
}

void on_end(unsigned vcpu, void*) {
    if (vcpu == recorded_vcpu) stop_recording(false);
}

/// The code of instructions [first, last) of a block; the same code translated again is the same object.
TranslatedBlock* remember(qemu_plugin_tb* tb, size_t first, size_t last) {
    std::string bytes, sizes;
    for (size_t i = first; i < last; ++i) {
        const qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        const size_t size = qemu_plugin_insn_size(insn);
        bytes.append(static_cast<const char*>(qemu_plugin_insn_data(insn)), size);
        sizes.push_back(static_cast<char>(size));
    }
    const uint64_t pc = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(tb, first));
    std::lock_guard lock(state.mutex);
    auto& slot = state.blocks[{pc, std::to_string(first) + ':' + bytes}];
    if (!slot) {
        slot = std::make_unique<TranslatedBlock>();
        slot->pc = pc;
        slot->bytes.assign(bytes.begin(), bytes.end());
        slot->insn_bytes.assign(sizes.begin(), sizes.end());
        slot->first_insn = static_cast<uint32_t>(first);
        slot->number = static_cast<uint32_t>(state.blocks.size() - 1);
    }
    return slot.get();
}

void learn_roi() {
    state.roi_known = true;
    const char* path = qemu_plugin_path_to_binary();
    Roi roi = recorder->settings().roi;
    if (roi == Roi::automatic) roi = path && has_begin_marker(path) ? Roi::markers : Roi::whole;
    std::free(const_cast<char*>(path));
    state.whole_pending = roi == Roi::whole;
    state.code_begin = qemu_plugin_start_code();
    state.code_end = qemu_plugin_end_code();
    state.instrument = recorder->settings().threads;
}

/// Instruments instructions from `first` up to the next marker; returns that marker's position.
size_t instrument_accesses(qemu_plugin_tb* tb, size_t first, size_t count) {
    for (size_t i = first; i < count; ++i) {
        qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        if (marker_of(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn)) != Marker::none) return i;
        // One callback for both directions: QEMU 7.2 runs callbacks registered for stores only on loads too,
        // and those for loads only on stores.
        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         reinterpret_cast<void*>(memory_tag(static_cast<uint32_t>(i), false)));
    }
    return count;
}

void on_translate(qemu_plugin_id_t, qemu_plugin_tb* tb) {
    if (!state.roi_known) learn_roi();
    if (state.stopped || state.child) return;
    const size_t count = qemu_plugin_tb_n_insns(tb);
    const uint64_t pc = qemu_plugin_tb_vaddr(tb);
    const bool starts = state.whole_pending && !state.begun && pc >= state.code_begin && pc < state.code_end;
    size_t covered = 0;  // instructions below have their callbacks
    if (state.instrument || starts) {
        covered = instrument_accesses(tb, 0, count);
        if (covered > 0)
            qemu_plugin_register_vcpu_tb_exec_cb(tb, starts ? on_program_start : on_block, QEMU_PLUGIN_CB_NO_REGS,
                                                 remember(tb, 0, covered));
    }
    for (size_t i = covered; i < count && !state.whole_pending; ++i) {
        qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        const Marker marker = marker_of(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
        if (marker == Marker::end) qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, QEMU_PLUGIN_CB_NO_REGS, nullptr);
        if (marker != Marker::begin) continue;
        const size_t tail_end = instrument_accesses(tb, i + 1, count);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, QEMU_PLUGIN_CB_NO_REGS,
                                               tail_end > i + 1 ? remember(tb, i + 1, tail_end) : nullptr);
        i = tail_end - 1;
    }
}

void on_vcpu(qemu_plugin_id_t, unsigned) {
    if (++state.vcpus > 1 && state.was_reset && !recorder->settings().threads && !state.child)
        die("record " + recorder->settings().program + ": it starts a thread\n  what to do: record it with --threads");
}

void on_exit(qemu_plugin_id_t, void*) {
    if (state.child) return;
    if (!state.begun)
        die("record " + recorder->settings().program + ": the region of interest never began\n  what to do: call TESSERA_ROI_BEGIN(), "
            "or record with --roi whole");
    if (recorded_vcpu != nobody) recorder->snapshot_pools();
    recorded_vcpu = nobody;
    recorder->finish(static_cast<uint32_t>(state.threads_seen.size()));
}

void register_callbacks() {
    qemu_plugin_register_vcpu_tb_trans_cb(state.id, on_translate);
    qemu_plugin_register_vcpu_init_cb(state.id, on_vcpu);
    qemu_plugin_register_atexit_cb(state.id, on_exit, nullptr);
}

}  // namespace
}  // namespace tessera::tracer

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
    using namespace tessera::tracer;
    const std::string key = "settings=";
    const std::string argument = argc == 1 ? argv[0] : "";
    if (info->system_emulation || std::string(info->target_name) != "x86_64")
        die(std::string("load into QEMU for ") + info->target_name + ": only x86-64 programs in user mode are recorded\n  what to do: use qemu-x86_64");
    if (argument.rfind(key, 0) != 0) die("arguments: not exactly one settings=FILE\n  what to do: use `tessera trace record`");
    try {
        recorder = new Recorder(read_settings(argument.substr(key.size())));
    } catch (const std::exception& error) {
        die(error.what());
    }
    state.id = id;
    pthread_atfork(nullptr, nullptr, [] {
        state.child = true;
        recorded_vcpu = nobody;
        recorder->abandon();
    });
    register_callbacks();
    return 0;
}
