// old_libc.cpp - functions of newer C libraries that the launcher must not ask for.
//
// The launcher contains libstdc++ and libgcc, so that it needs nothing but glibc 2.34. Built with glibc 2.36, these two
// refer to functions that came after 2.34, in code that the launcher never runs: exceptions (it is built without) and
// std::random_device. With an older glibc the dynamic linker would reject the launcher because of them. The linker
// takes these definitions instead.
#include <cstdint>
#include <cstdlib>

extern "C" {

/// glibc 2.35. libgcc asks for the unwind tables of an address. Without them an exception ends the program, as it does
/// without a handler.
int _dl_find_object(void*, void*) { return -1; }

/// glibc 2.36. A number that is not random would be worse than none.
uint32_t arc4random() { abort(); }
}
