// patch.h - makes libc's own memory functions jump to ours.
//
// Since glibc 2.34 there is no __morecore, and malloc calls mmap and brk inside libc, where symbol interposition
// does not reach. So the first bytes of the functions themselves become a jump. malloc's fast path is untouched.
#pragma once

#include "core/text.h"

namespace mosalloc {

struct Patch {
    const char* symbol;
    void* replacement;
    bool optional = false;  ///< if it cannot be patched, the program runs without it
};

/// Patches all or, if it returns false with `error` filled, tells which one failed; the program must not start then,
/// since it would be half patched. `skipped` gets the names of optional functions that this libc lacks or has too short.
bool patch_libc(const Patch* patches, size_t count, Text* error, Text* skipped);

/// Makes the calls of `callee` inside libc's function `caller` call `replacement` instead; `original` is then the
/// callee. For functions whose own code must still run. False where there is no such call, or it can't be reached.
bool redirect_calls(const char* caller, const char* callee, void* replacement, void** original);

}  // namespace mosalloc
