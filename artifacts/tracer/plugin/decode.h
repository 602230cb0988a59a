// SPDX-License-Identifier: GPL-2.0-only
// decode.h - one instruction's bytes as a trace::StaticInsn, by libcapstone.
//
// `kind` is the operation where it has a latency of its own (multiply, divide, fp_*, branch), whether or not it also
// touches memory. Otherwise set_memory_kind() sets it once it is known what the instruction accesses: load or store for
// a move, alu for a computation with a memory source, load_store for a read-modify-write. Memory slots are not decoded:
// the recorder takes them from what QEMU executes, which is right where disassemblers' access tables are not.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>

#include "tessera/trace/trace.h"

namespace tessera::tracer {

struct DecodedInsn {
    trace::StaticInsn insn{};
    uint16_t operand_bytes = 0;     ///< size of the memory operand, 0 when it has none
    bool separate_elements = false; ///< a gather, a masked store or a compare of strings: neighbours are not one access
    bool moves = false;             ///< it only copies what it loads (mov, pop, ret): no time beyond the load
    bool fast_string = false;       ///< rep movs, rep stos: recorded by line (string_lines.h)
};

class Decoder {
public:
    Decoder();
    ~Decoder();
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    /// Bytes that capstone does not know become kind `other` without registers.
    DecodedInsn decode(const uint8_t* bytes, size_t size, uint64_t pc);
    /// capstone's own view, valid until the next call; nullptr for bytes that it does not know.
    const cs_insn* disassemble(const uint8_t* bytes, size_t size, uint64_t pc);

private:
    csh handle_ = 0;
    cs_insn* insn_ = nullptr;
};

/// The instruction with its kind completed, knowing whether it loads and stores.
trace::StaticInsn with_memory_kind(const DecodedInsn& decoded, bool loads, bool stores);

}  // namespace tessera::tracer
