// SPDX-License-Identifier: GPL-2.0-only
// keep_arrays.h - works around a dangling pointer of QEMU 7.2.
//
// An instruction that accesses memory and ends its block with an indirect jump (every `ret`) leaves cpu->plugin_mem_cbs
// pointing at its list of callbacks. QEMU emits the code that clears the pointer only if a flag is set, but it sets the
// flag later (QEMU 8.0 clears the pointer at the end of each block). A reset frees these lists. Then the next helper of
// uninstrumented code that accesses memory, such as xsave in the lazy binding of a function, would call freed memory.
// So this file keeps the lists: they are the only arrays that QEMU frees while a program runs, about 100 bytes for each
// instrumented instruction and reset.
#pragma once

namespace tessera::tracer {

/// Makes QEMU's calls of g_array_free do nothing. Throws Error if QEMU has no such calls.
void keep_arrays();

}  // namespace tessera::tracer
