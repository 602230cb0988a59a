// other_libc.h - the C library of the process. musl's dynamic linker loads this library, too, if it finds all symbols.
//
// With a missing symbol, musl ends the program with lines that do not name the reason, and it does so for every program
// that inherits LD_PRELOAD. So the symbols that only glibc has are weak here. The library then starts, and either leaves
// the program alone, because the layout is for another one, or names the reason.
#pragma once

#include <dlfcn.h>

#pragma weak dladdr1

extern "C" {
extern void* __curbrk __attribute__((weak));  // libc's idea of the break; null before its first call of brk
int __register_atfork(void (*)(), void (*)(), void (*)(), void*) __attribute__((weak));  // what pthread_atfork calls
const char* gnu_get_libc_version() __attribute__((weak));
extern void* __dso_handle __attribute__((visibility("hidden")));
}

namespace mosalloc {

/// Elsewhere no libc function may be patched, and constructors get no arguments.
inline bool has_glibc() { return gnu_get_libc_version != nullptr; }

}  // namespace mosalloc
