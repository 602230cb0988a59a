// SPDX-License-Identifier: GPL-2.0-only
#include "translate.h"

#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "access_units.h"
#include "guest_memory.h"
#include "head.h"
#include "marker.h"
#include "window.h"

namespace tessera::tracer {
namespace {

struct Code {
    bool roi_known = false;
    bool start_pending = false;  ///< the program's own code begins the region (whole), or the counting (skip)
    bool markers = false;        ///< the program's markers begin and end the region
    bool base_checked = false;
    uint64_t begin = 0, end = 0; ///< of the program's own code
    uint32_t blocks = 0;
    std::map<std::pair<uint64_t, std::string>, std::unique_ptr<TranslatedBlock>> known;
};
Code code;

void learn_roi() {
    code.roi_known = true;
    const char* path = qemu_plugin_path_to_binary();
    Roi roi = recorder->settings().roi;
    if (roi == Roi::automatic) roi = path && has_begin_marker(path) ? Roi::markers : Roi::whole;
    std::free(const_cast<char*>(path));
    code.start_pending = roi == Roi::whole || roi == Roi::skip;
    code.markers = roi == Roi::markers;
    code.begin = qemu_plugin_start_code();
    code.end = qemu_plugin_end_code();
    if (recorder->settings().threads && roi != Roi::control) region.instrument = Instrument::events;
}

void check_base(qemu_plugin_tb* tb) {
    const qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, 0);
    if (!check_guest_base(qemu_plugin_insn_vaddr(insn), qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn)))
        die({"record " + recorder->settings().program, "QEMU maps the program's memory at other addresses (guest base is not 0)",
             "use the QEMU of the toolchain image"});
    code.base_checked = true;
}

/// One decoder for all threads; call it under region.mutex.
Access access_at(qemu_plugin_tb* tb, size_t i) {
    static Decoder decoder;
    const qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
    return access_of(decoder, static_cast<const uint8_t*>(qemu_plugin_insn_data(insn)), qemu_plugin_insn_size(insn),
                     qemu_plugin_insn_vaddr(insn));
}

/// Looks for the first access of the block if head.h is certain of it. Call it under region.mutex.
void find_head(qemu_plugin_tb* tb, size_t first, size_t last, TranslatedBlock& block) {
    for (size_t i = first; i < last; ++i) {
        const Access access = access_at(tb, i);
        if (access == Access::none) continue;
        block.has_head = access != Access::unknown;
        block.head_tag = insn_tag(static_cast<uint32_t>(i));
        return;
    }
}

/// What one execution counts. Call it under region.mutex.
void measure(qemu_plugin_tb* tb, size_t first, size_t last, TranslatedBlock& block) {
    static Decoder decoder;
    for (size_t i = first; i < last; ++i) {
        const qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        const Counted counted = counted_of(decoder, static_cast<const uint8_t*>(qemu_plugin_insn_data(insn)), qemu_plugin_insn_size(insn),
                                           qemu_plugin_insn_vaddr(insn), i == 0);
        block.access_units += counted.units;
        block.insns += counted.insns;
    }
}

/// QEMU's own code adds what one execution counts.
void count_inline(qemu_plugin_tb* tb, const TranslatedBlock& block) {
    if (block.access_units)
        qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &region.windows.units, block.access_units);
    if (block.insns) qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &region.windows.insns, block.insns);
}

bool touches_nothing(qemu_plugin_tb* tb, size_t i) {
    std::lock_guard lock(region.mutex);
    return access_at(tb, i) == Access::none;
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
    std::lock_guard lock(region.mutex);
    auto& slot = code.known[{pc, std::to_string(first) + ':' + bytes}];
    if (!slot) {
        slot = std::make_unique<TranslatedBlock>();
        slot->pc = pc;
        slot->bytes.assign(bytes.begin(), bytes.end());
        slot->insn_bytes.assign(sizes.begin(), sizes.end());
        slot->first_insn = static_cast<uint32_t>(first);
        slot->number = code.blocks++;
        find_head(tb, first, last, *slot);
        if (recorder->settings().count_region) measure(tb, first, last, *slot);
    }
    return slot.get();
}

bool is_marker(const qemu_plugin_insn* insn) { return marker_of(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn)) != Marker::none; }

/// Position of the next marker, or `count`.
size_t up_to_marker(qemu_plugin_tb* tb, size_t first, size_t count) {
    while (first < count && !is_marker(qemu_plugin_tb_get_insn(tb, first))) ++first;
    return first;
}

/// Callbacks for the accesses of instructions [first, last), except that of instruction `without`. None for those that
/// access nothing.
void record_accesses(qemu_plugin_tb* tb, size_t first, size_t last, size_t without) {
    for (size_t i = first; i < last; ++i) {
        if (i == without || touches_nothing(tb, i)) continue;
        // One callback for both directions: QEMU 7.2 runs callbacks registered for stores only on loads too,
        // and those for loads only on stores.
        qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
                                         reinterpret_cast<void*>(insn_tag(static_cast<uint32_t>(i))));
    }
}

/// Records the block up to its first marker; returns where that is.
size_t record_block(qemu_plugin_tb* tb, size_t count, bool starts) {
    const size_t last = up_to_marker(tb, 0, count);
    if (last == 0) return 0;
    TranslatedBlock* block = remember(tb, 0, last);
    if (recorder->settings().count_region && !starts) count_inline(tb, *block);  // on_begin counts the first one
    if (starts || !block->has_head) {
        record_accesses(tb, 0, last, count);
        qemu_plugin_register_vcpu_tb_exec_cb(tb, starts ? on_program_start : on_block, QEMU_PLUGIN_CB_NO_REGS, block);
        return last;
    }
    const size_t head = insn_of(block->head_tag);
    qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, head), on_head, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, block);
    record_accesses(tb, 0, last, head);
    return last;
}

/// Counts the block up to its first marker; returns where that is.
size_t count_in_gap(qemu_plugin_tb* tb, size_t count) {
    const size_t last = up_to_marker(tb, 0, count);
    if (last == 0) return 0;
    const TranslatedBlock* block = remember(tb, 0, last);
    count_inline(tb, *block);
    if (block->access_units && !region.windows.last)
        qemu_plugin_register_vcpu_tb_exec_cb(tb, on_gap_block, QEMU_PLUGIN_CB_NO_REGS, reinterpret_cast<void*>(block->access_units));
    return last;
}

/// Counts what the block accesses by decoding, once for each execution, which is cheaper than callbacks of accesses: an
/// instruction that touches memory counts once.
void count_block(qemu_plugin_tb* tb, size_t count) {
    uint64_t accesses = 0;
    for (size_t i = 0; i < count; ++i) accesses += !touches_nothing(tb, i);
    if (accesses == 0) return;
    qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64, &region.skipped, accesses);
    qemu_plugin_register_vcpu_tb_exec_cb(tb, on_counted_block, QEMU_PLUGIN_CB_NO_REGS, nullptr);
}

/// Callbacks of the markers in instructions [first, count), and of what follows a begin marker.
void watch_markers(qemu_plugin_tb* tb, size_t first, size_t count) {
    for (size_t i = first; i < count; ++i) {
        qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(tb, i);
        const Marker marker = marker_of(qemu_plugin_insn_data(insn), qemu_plugin_insn_size(insn));
        if (marker == Marker::end) qemu_plugin_register_vcpu_insn_exec_cb(insn, on_end, QEMU_PLUGIN_CB_NO_REGS, nullptr);
        if (marker != Marker::begin) continue;
        const size_t tail_end = up_to_marker(tb, i + 1, count);
        record_accesses(tb, i + 1, tail_end, count);
        qemu_plugin_register_vcpu_insn_exec_cb(insn, on_begin, QEMU_PLUGIN_CB_NO_REGS,
                                               tail_end > i + 1 ? remember(tb, i + 1, tail_end) : nullptr);
        i = tail_end - 1;
    }
}

}  // namespace

uint32_t next_block_number() {
    std::lock_guard lock(region.mutex);
    return code.blocks++;
}

void on_translate(qemu_plugin_id_t, qemu_plugin_tb* tb) {
    if (!code.roi_known) learn_roi();
    if (region.stopped || region.child) return;
    const size_t count = qemu_plugin_tb_n_insns(tb);
    const uint64_t pc = qemu_plugin_tb_vaddr(tb);
    if (!code.base_checked) check_base(tb);
    if (region.instrument == Instrument::counts) return count_block(tb, count);
    const bool starts = code.start_pending && !region.begun && pc >= code.begin && pc < code.end;
    size_t covered = 0;  // instructions below have their callbacks
    if (region.instrument == Instrument::gap) covered = count_in_gap(tb, count);
    if (region.instrument == Instrument::events || starts) covered = record_block(tb, count, starts);
    if (code.markers) watch_markers(tb, covered, count);
}

}  // namespace tessera::tracer
