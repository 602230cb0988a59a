// drain.h - uses up malloc's memory in the kernel's heap. Libraries that were initialised before us may have called
// malloc, which then owns a piece of the kernel's heap. malloc would serve the program's first small blocks from it:
// outside the pools, at addresses that change from run to run.
#pragma once

namespace mosalloc {

/// Allocates the rest of that memory and never frees it. Call once, after libc is patched.
void drain_kernel_heap();

}  // namespace mosalloc
