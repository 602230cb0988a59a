// SPDX-License-Identifier: GPL-2.0-only
// stream_builder.h - turns events into block executions of a trace.
//
// QEMU splits vector accesses into 8-byte parts; neighbouring parts of one instruction are one access here, of at most 64
// bytes. An atomic read-modify-write, one access in QEMU, is a load and then a store. Sizes are those of QEMU's accesses.
// The builder learns the memory slots of a block from its executions: each distinct pattern of events of a
// translated block becomes one static block. So a masked store, or a `rep cmps` that compares nothing, has a regular
// count too. Behind `max_variants` patterns (two gathers of eight elements have 81), or `max_variant_slots` slots of them, one
// more block has all further patterns, with irregular counts: the widest one's slots, of 1 byte.
//
// QEMU runs a `rep` instruction element by element: the first one in the block that the instruction ends, each other one
// as a block of its own. Processors of the last decade move whole lines (Intel Optimization Reference Manual, "Enhanced REP
// MOVSB and STOSB operation"). So `rep movs` and `rep stos` become one execution for each time that their loads or stores
// enter another line, in order of the elements. Address and size are those of the first element in the line.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "decode.h"
#include "event.h"
#include "tessera/trace/trace.h"

namespace tessera::tracer {

class StreamBuilder {
public:
    /// Each of `windows` windows ends before the execution that would exceed `window_accesses` (0: no limit). The next one
    /// begins behind a block event with `begins_window`; what lies in between is left out.
    StreamBuilder(trace::Writer& writer, uint64_t window_accesses, uint64_t windows = 1)
        : writer_(writer), window_accesses_(window_accesses), limit_(window_accesses), windows_(windows) {}

    /// Events of whole executions: the first one is a block event, and `*end` may be read and written (a block
    /// event is put there as a sentinel). False once the last window is full.
    bool add(Event* begin, Event* end);
    uint64_t accesses() const { return accesses_; }
    uint64_t full_windows() const { return full_windows_; }

private:
    static constexpr size_t max_variants = 128, max_variant_slots = 8192;
    static constexpr uint16_t no_tag = UINT16_MAX;  // events have no bit 63

    struct Variant {
        std::vector<uint16_t> tags;     ///< of the raw events, and no_tag behind them
        std::vector<uint16_t> kept;     ///< raw event that each access begins with
        std::vector<uint8_t> is_store;  ///< of each access
        bool all_kept = false;          ///< each event is one access
        uint32_t block_id = 0;
    };
    struct Known {
        std::vector<DecodedInsn> insns;
        std::vector<Variant> variants;
        std::vector<uint64_t> hashes;  ///< of the variants' tags
        size_t recent = 0, slots = 0;  ///< the variant that fitted last; slots of all variants
        std::vector<trace::MemorySlot> widest;  ///< the most that a variant has
        std::optional<uint32_t> irregular_id;   ///< the block of further patterns
        std::unique_ptr<Known> before_string;  ///< of a block that a fast string ends: the instructions before it
        std::array<uint32_t, 8> string_ids{};  ///< blocks of its lines, plus 1, by part, load and store; 0: none yet
    };
    /// The fast string at `pc` whose elements are being read; 0: none.
    struct OpenString {
        uint64_t pc = 0, load_line = 0, store_line = 0;
    };

    Known& decode_new(const TranslatedBlock& block);
    struct Match {
        const Variant* variant;  ///< none: nullptr
        const Event* end;        ///< the next block event
    };
    /// The next block event if the events from `begin` up to it are those of `variant`, else nullptr.
    static const Event* end_if_fits(const Variant& variant, const Event* begin);
    /// The variant that fits the events up to the next block event, most recent first.
    static Match match(Known& entry, const Event* begin);
    /// The variant that has the tags of these events; none: nullptr.
    static const Variant* find(Known& entry, const Event* begin, const Event* end);
    /// Adds a static block with these slots to the trace.
    uint32_t add_block(uint64_t pc, const Known& entry, std::vector<trace::MemorySlot> slots);
    const Variant& learn(const TranslatedBlock& block, Known& entry, const Event* begin, size_t count);
    /// An execution with a pattern that was not the one expected.
    bool append_other(const TranslatedBlock& block, Known& entry, const Event* begin, size_t count);
    bool append_string(const TranslatedBlock& block, Known& entry, const Event* begin, const Event* end);
    uint32_t string_block(const TranslatedBlock& block, Known& entry, trace::StringPart part, bool loads, bool stores,
                          uint8_t element_bytes);
    bool append(const Variant& variant, const Event* begin);
    bool append_irregular(const TranslatedBlock& block, Known& entry, const Event* begin, size_t count);
    bool over_limit(size_t count) const { return limit_ && accesses_ + count > limit_; }
    /// Appends executions up to `end`; returns the first one that is beyond the window, or `end`.
    Event* add_to_window(Event* begin, Event* end);
    /// Leaves events out up to the begin of the next window; returns the first event in it, or `end`.
    Event* next_window(Event* begin, Event* end);
    /// One instruction where the program went on behind the last window, without accesses, which sets all registers. The outcome
    /// of a branch is the pc of the next block, so the last branch of a window needs that block. Registers that the first
    /// instructions of the next window read were set in the gap.
    void append_bridge();

    trace::Writer& writer_;
    uint64_t window_accesses_;
    uint64_t limit_;                 ///< of accesses_ in this window; 0: none
    uint64_t windows_;
    uint64_t full_windows_ = 0;
    bool between_windows_ = false;
    uint64_t left_at_pc_ = 0;        ///< the first execution that the last window left out
    uint64_t accesses_ = 0;
    Decoder decoder_;
    std::vector<Known> known_;
    OpenString string_;
};

}  // namespace tessera::tracer
