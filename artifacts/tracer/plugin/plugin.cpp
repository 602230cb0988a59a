// SPDX-License-Identifier: GPL-2.0-only
// plugin.cpp - the plugin's entry point and the callbacks of running code.
//
// Usage: qemu-x86_64 -plugin libtessera-trace.so,settings=FILE program ...
//
// Code outside the region of interest is not instrumented. The begin of the region resets the plugin, so that QEMU
// translates all code again, with callbacks (translate.cpp). The end of the region resets it again. region.h describes
// the differences for programs with threads.
#include <pthread.h>

#include <mutex>
#include <optional>
#include <string>

#include "access_units.h"
#include "file_event.h"
#include "fixed_results.h"
#include "guest_memory.h"
#include "keep_arrays.h"
#include "kernel_blocks.h"
#include "syscalls.h"
#include "translate.h"
#include "window.h"

extern "C" {
QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv);
extern QEMU_PLUGIN_EXPORT int qemu_plugin_version;
}

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

namespace tessera::tracer {
namespace {

bool is_recorded(unsigned vcpu) { return vcpu == recorded_vcpu.load(std::memory_order_relaxed); }
/// The thread is recorded, or counted in a gap between windows (then it is the only one).
bool is_followed(unsigned vcpu) { return is_recorded(vcpu) || (region.windows.in_gap && region.inside && !region.child); }

/// QEMU 7.2 describes an access by log2 of its bytes in bits 4 to 6 and its directions in bits 16 (load) and 17 (store); an
/// atomic one has both. qemu_plugin_mem_is_store() and qemu_plugin_mem_size_shift() return these bits, but a call takes as
/// long as the rest of the callback. So only the first accesses compare the bits with the functions.
Event access_tag_of(qemu_plugin_meminfo_t info) {
    static_assert(load_tag == 1u << 10 && store_tag == 1u << 11);
    return Event{info >> 16 & 3} << (tag_shift + 10) | Event{info >> 4 & 7} << (tag_shift + size_tag_shift);
}

unsigned left_to_compare = 4096;

void compare_tag(qemu_plugin_meminfo_t info) {
    --left_to_compare;
    const uint32_t tag = tag_of(access_tag_of(info));
    const bool directs = (tag & (load_tag | store_tag)) != 0 && ((tag & store_tag) != 0) == qemu_plugin_mem_is_store(info);
    if (!directs || bytes_of_tag(tag) != 1u << qemu_plugin_mem_size_shift(info))
        die({"record " + recorder->settings().program, "this QEMU encodes accesses differently from QEMU 7.2",
             "use the QEMU of the toolchain image"});
}

/// Hands the buffer over; false when the recording has ended.
bool new_buffer(unsigned vcpu) {
    const bool more = recorder->hand_over(), counts = recorder->settings().count_region && !recorder->settings().stop_when_recorded;
    if (more && !recorder->window_is_full()) return true;
    if (more || counts) begin_gap(vcpu);
    else end_region(vcpu, true);
    return false;
}

bool room_for_block(unsigned vcpu) { return cursor.at < cursor.soft_end || new_buffer(vcpu); }

thread_local SystemCall pending;  // between a call's callbacks; a thread of the program is a thread of QEMU
std::optional<FixedResults> fixed_results;
std::mutex fixed_results_mutex;
std::optional<FileEvent> file_event;
KernelBlocks kernel_blocks;

void record_copies(unsigned vcpu, int64_t result) {
    for (const KernelCopy& copy : copies_of(pending, result, read_guest)) {
        const Event tag = access_tag(copy.stores ? store_tag : load_tag, kernel_line_shift);
        const uint64_t first = copy.begin & ~(kernel_line_bytes - 1);
        for (uint64_t line = first; line < copy.begin + copy.bytes; line += kernel_line_bytes) {
            count_now(units_per_access, line == first);
            if (!is_recorded(vcpu) || !room_for_block(vcpu)) continue;
            recorder->single(kernel_blocks.of(pending.number, copy.stores, line == first, next_block_number), (line & address_mask) | tag);
        }
    }
}

/// Only the main thread reads the switch file, because only the main thread may reset if there are other threads.
void follow_switch(unsigned vcpu) {
    if (vcpu != 0 || !region.control.is_open() || region.child || region.stopped) return;
    const bool asked = region.control.asked();
    if (asked == region.inside) return;
    if (asked) begin_region(vcpu);
    else end_region(vcpu, false);
    region.control.set_recording(asked);
}

/// libmosalloc-events.so tells of a call of the program's.
void on_program_event(uint64_t address) {
    if (region.child || region.stopped) return;
    mosalloc_event told;
    if (!read_guest(address, &told, sizeof told))
        die({"record " + recorder->settings().program, "what libmosalloc tells of a call can't be read",
             "allow the process to read /proc/self/mem"});
    recorder->add_program_event(told, told.name ? text_at(told.name, read_guest) : "");
}

void on_syscall(qemu_plugin_id_t, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5,
                uint64_t a6, uint64_t, uint64_t) {
    follow_switch(vcpu);
    if (number == MOSALLOC_EVENT_CALL && recorder->settings().events) return on_program_event(a1);
    pending = {number, {a1, a2, a3, a4, a5, a6}};
}

/// Nothing is recorded of this: the kernel's own stores are what record_copies() models.
void fix_results(int64_t result) {
    std::lock_guard lock(fixed_results_mutex);
    for (const Overwrite& over : fixed_results->after(pending, result, read_guest))
        if (!write_guest(over.address, over.bytes.data(), over.bytes.size()))
            die({"record " + recorder->settings().program,
                 "the result of system call " + std::to_string(pending.number) + " can't be replaced by a fixed one",
                 "allow the process to write /proc/self/mem"});
}

void on_syscall_return(qemu_plugin_id_t, unsigned vcpu, int64_t number, int64_t result) {
    if (pending.number == number) {
        fix_results(result);
        if (is_followed(vcpu) && recorder->settings().kernel_accesses) record_copies(vcpu, result);
        if (file_event && !region.begun && file_event->is(pending, result, read_guest)) begin_region(vcpu);
    }
    pending.number = -1;
    follow_switch(vcpu);
}

void on_vcpu(qemu_plugin_id_t, unsigned vcpu) {
    const Settings& settings = recorder->settings();
    region.add_thread(vcpu);
    if (region.created > 1 && region.was_reset && !region.child && (!settings.threads || settings.roi == Roi::control))
        die({"record " + settings.program, std::string("it starts a thread") + (settings.threads ? " while the switch is on" : ""),
             settings.threads ? "turn the switch on after it has started all threads" : "record it with --threads"});
}

void on_exit(qemu_plugin_id_t, void*) {
    if (region.child) return;
    const Settings& settings = recorder->settings();
    if (!region.begun)
        die({"record " + settings.program, "the region of interest never began",
             settings.roi == Roi::control   ? "turn the switch on while the program runs"
             : settings.roi == Roi::closed  ? "name a file that the program opens and closes: " + settings.file
             : settings.roi == Roi::written ? "name a file that the program opens and writes: " + settings.file
             : settings.roi == Roi::skip    ? "skip fewer accesses than the program makes: " + std::to_string(region.skipped)
                                            : "call TESSERA_ROI_BEGIN(), or record with --roi whole"});
    if (!region.chosen)
        die({"record " + settings.program,
             "the thread to record makes no accesses in the region of interest; the program created threads 0 to " +
                 std::to_string(region.created - 1),
             "record with --thread first, or with another thread number"});
    if (region.inside) recorder->snapshot_pools();
    recorded_vcpu = nobody;
    recorder->finish([](uint64_t blocks) { return region.threads(blocks); }, false, region_count(false));
}

void register_callbacks() {
    qemu_plugin_register_vcpu_tb_trans_cb(region.id, on_translate);
    qemu_plugin_register_vcpu_init_cb(region.id, on_vcpu);
    qemu_plugin_register_atexit_cb(region.id, on_exit, nullptr);
    qemu_plugin_register_vcpu_syscall_cb(region.id, on_syscall);
    qemu_plugin_register_vcpu_syscall_ret_cb(region.id, on_syscall_return);
}

}  // namespace

// Callbacks run for each block and access. Rare cases are in separate functions with the same arguments: the compiler then
// jumps to them, and the frequent path does not save registers.

[[gnu::noinline]] static void on_rare_block(unsigned vcpu, void* block) {
    if (!is_recorded(vcpu) && !elected(vcpu)) return;
    if (room_for_block(vcpu)) *cursor.at++ = block_event(static_cast<const TranslatedBlock*>(block));
}

void on_block(unsigned vcpu, void* block) {
    if (!is_recorded(vcpu) || cursor.at >= cursor.soft_end) [[unlikely]]
        return on_rare_block(vcpu, block);
    *cursor.at++ = block_event(static_cast<const TranslatedBlock*>(block));
}

[[gnu::noinline]] static void on_rare_head(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* block) {
    on_rare_block(vcpu, block);
    if (!is_recorded(vcpu)) return;
    auto* const head = static_cast<TranslatedBlock*>(block);
    head->head_tag |= access_tag_of(info);
    *cursor.at++ = address | head->head_tag;
}

void on_head(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* block) {
    if (!is_recorded(vcpu) || cursor.at >= cursor.soft_end) [[unlikely]]
        return on_rare_head(vcpu, info, address, block);
    const auto* const head = static_cast<const TranslatedBlock*>(block);
    const Event tag = head->head_tag;  // only the recorded thread reads and writes it
    if ((tag & access_tag(load_tag | store_tag, 0)) == 0) [[unlikely]]
        return on_rare_head(vcpu, info, address, block);
    Event* const at = cursor.at;
    at[0] = block_event(head);
    at[1] = address | tag;
    cursor.at = at + 2;
}

[[gnu::noinline]] static void on_rare_access(unsigned, qemu_plugin_meminfo_t info, uint64_t address, void* insn_tag) {
    if (cursor.at == cursor.hard_end) recorder->overflow();
    if (left_to_compare) compare_tag(info);
    *cursor.at++ = address | reinterpret_cast<Event>(insn_tag) | access_tag_of(info);
}

void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* insn_tag) {
    if (!is_recorded(vcpu)) return;
    if (cursor.at == cursor.hard_end || left_to_compare) [[unlikely]]
        return on_rare_access(vcpu, info, address, insn_tag);
    *cursor.at++ = address | reinterpret_cast<Event>(insn_tag) | access_tag_of(info);
}

void on_counted_block(unsigned vcpu, void*) {
    if (region.skipped >= recorder->settings().skip_accesses && !region.begun) begin_region(vcpu);
}

void on_begin(unsigned vcpu, void* tail) {
    begin_region(vcpu);
    if (!tail || !region.inside) return;
    const auto* const block = static_cast<const TranslatedBlock*>(tail);
    count_now(block->access_units, block->insns);
    on_block(vcpu, tail);
}

/// The first block of the program's own code is a begin marker, or begins the count.
void on_program_start(unsigned vcpu, void* block) {
    if (recorder->settings().roi != Roi::skip) return region.begun ? on_block(vcpu, block) : on_begin(vcpu, block);
    if (region.instrument != Instrument::nothing) return;
    region.instrument = Instrument::counts;
    translate_again(vcpu);
}

void on_end(unsigned vcpu, void*) {
    const bool began_it = region.inside && !region.child && region.number_of(vcpu) == region.beginner;
    if (is_followed(vcpu) || began_it) end_region(vcpu, false);
}

}  // namespace tessera::tracer

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t* info, int argc, char** argv) {
    using namespace tessera::tracer;
    const std::string key = "settings=";
    const std::string argument = argc == 1 ? argv[0] : "";
    if (info->system_emulation || std::string(info->target_name) != "x86_64")
        die({std::string("load into QEMU for ") + info->target_name, "the plugin records only x86-64 programs in user mode",
             "use qemu-x86_64"});
    if (argument.rfind(key, 0) != 0) die({"arguments", "must be exactly one settings=FILE", "use `tessera trace record`"});
    try {
        keep_arrays();
        recorder = new Recorder(read_settings(argument.substr(key.size())), cursor);
        const Settings& settings = recorder->settings();
        if (settings.roi == Roi::control) region.control.open(settings.control);
        if (settings.roi == Roi::closed) file_event.emplace(FileEvent::Kind::closed, settings.file);
        if (settings.roi == Roi::written) file_event.emplace(FileEvent::Kind::written, settings.file);
        fixed_results.emplace(settings.fixed_clocks);
    } catch (const std::exception& error) {
        die(error);
    }
    region.id = id;
    region.register_callbacks = register_callbacks;
    pthread_atfork(nullptr, nullptr, [] {
        region.child = true;
        recorded_vcpu = nobody;
        recorder->abandon();
    });
    register_callbacks();
    return 0;
}
