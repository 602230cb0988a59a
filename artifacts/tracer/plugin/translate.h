// SPDX-License-Identifier: GPL-2.0-only
// translate.h - adds callbacks to newly translated blocks, depending on the phase of the recording.
#pragma once

#include "region.h"

namespace tessera::tracer {

/// QEMU's callback for a block that it has translated.
void on_translate(qemu_plugin_id_t id, qemu_plugin_tb* tb);

/// The next free block number (kernel blocks use the same sequence).
uint32_t next_block_number();

// What blocks call when they run; plugin.cpp has them.
void on_block(unsigned vcpu, void* block);
void on_head(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* block);
void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void* insn_tag);
void on_counted_block(unsigned vcpu, void*);
void on_begin(unsigned vcpu, void* tail);
void on_program_start(unsigned vcpu, void* block);
void on_end(unsigned vcpu, void*);

}  // namespace tessera::tracer
