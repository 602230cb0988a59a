// text.h - messages built in a caller's buffer. The library may not allocate while it allocates for others,
// so nothing here touches malloc or stdio.
#pragma once

#include "core/base.h"
#include "tessera/common/fixed_text.h"

namespace mosalloc {

using Text = tessera::FixedText;

inline bool same_text(const char* a, const char* b) {
    while (*a != 0 && *a == *b) ++a, ++b;
    return *a == *b;
}

/// The part of a path behind its last slash.
inline const char* base_name(const char* path) {
    const char* last = path;
    for (; *path != 0; ++path)
        if (*path == '/') last = path + 1;
    return last;
}

}  // namespace mosalloc
