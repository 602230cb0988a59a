// SPDX-License-Identifier: GPL-2.0-only
// keep_arrays.h - works around a dangling pointer of QEMU 7.2.
//
// An instruction that accesses memory and ends its block by an indirect jump (every `ret`) leaves cpu->plugin_mem_cbs at
// its list of callbacks: the code that would clear it is emitted only if a flag is set, which is set later (mended in
// QEMU 8.0 by clearing it whenever a block ends). A reset frees these lists; the next helper of uninstrumented code that
// accesses memory, such as xsave in the lazy binding of a function, would call what lies there. So lists are never freed:
// they are the only arrays that QEMU frees while a program runs, some 100 bytes for each instrumented instruction and reset.
#pragma once

namespace tessera::tracer {

/// Lets QEMU's calls of g_array_free do nothing. Throws std::runtime_error when QEMU has no such calls.
void keep_arrays();

}  // namespace tessera::tracer
