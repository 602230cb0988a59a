// drain.h - libraries that were initialised before us may have called malloc, which then owns a piece of the kernel's
// heap and would serve the program's first small blocks from it: outside the pools, at addresses that change from run
// to run.
#pragma once

namespace mosalloc {

/// Allocates what is left there and never gives it back. Call once, after libc is patched.
void drain_kernel_heap();

}  // namespace mosalloc
