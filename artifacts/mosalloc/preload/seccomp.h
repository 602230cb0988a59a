// seccomp.h - finds out at start whether a seccomp filter would kill the process for a call that the library makes.
//
// A filter can allow a call, answer it with an error, or kill. The first two are handled where the calls are made. A kill
// much later, for a call that the program itself never makes, would be a riddle. So a child makes each call once, with
// arguments that have no effect. Filters that the program installs later cannot be seen: README.md lists all calls.
#pragma once

namespace mosalloc {

/// Name of the first call for which a filter kills, nullptr if there is none. Without a filter it only reads one file.
/// `with_windows`: the layout has huge pages.
const char* forbidden_call(bool with_windows);

}  // namespace mosalloc
