// preload.h - a path of a library that LD_PRELOAD can hold.
//
// The dynamic linker splits LD_PRELOAD at spaces and colons, and replaces $ORIGIN, $LIB and $PLATFORM in it. A path with
// one of these characters gets a symbolic link without them: BASE/tessera-preload-UID/HASH-NAME. BASE is $XDG_RUNTIME_DIR
// if that belongs to this user, else /tmp. Links stay, because children may outlive the launcher. The next run uses them.
//
// Whoever can replace the link chooses what the program loads. So BASE must not let other users rename what is in it, and
// the folder must belong to this user with mode 0700.
#pragma once

#include <string>

#include "tessera/common/problem.h"

namespace tessera::counters {

/// Sets `out` to `library`, or to a link that leads to it. `library` is an absolute path.
Problem preloadable(const std::string& library, std::string* out);

}  // namespace tessera::counters
