// copy.h - copies the contents of pages.
#pragma once

#include "core/base.h"

namespace mosalloc {

/// Copies `from` to `to`, which reads zero; pages that are all zero are skipped, so sparse memory stays sparse.
/// Returns 0.
long copy_pages(uint64_t from, uint64_t to, uint64_t bytes);

}  // namespace mosalloc
