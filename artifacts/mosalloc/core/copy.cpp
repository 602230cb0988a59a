#include "core/copy.h"

#include <cstring>

namespace mosalloc {

long copy_pages(uint64_t from, uint64_t to, uint64_t bytes) {
    static const char zeros[kPage4K] = {};
    for (uint64_t at = 0; at < bytes; at += kPage4K) {
        const void* page = reinterpret_cast<const void*>(from + at);
        if (memcmp(page, zeros, kPage4K) != 0) memcpy(reinterpret_cast<void*>(to + at), page, kPage4K);
    }
    return 0;
}

}  // namespace mosalloc
