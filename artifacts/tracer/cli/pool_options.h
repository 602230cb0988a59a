// pool_options.h - parses numbers and pools on the command line; throws UsageError for wrong ones.
#pragma once

#include <string>
#include <string_view>

#include "commands.h"

namespace tessera::trace::cli {

/// Decimal or 0x...; `option` is named where it is neither.
uint64_t number(const std::string& option, std::string_view text);

/// The pool of `--mmap-pool START:END` or `--brk-pool START:END`, aligned to 1GB; never empty.
Pool pool_option(const std::string& option, PoolKind kind, const std::string& text);

/// Throws UsageError if two pools overlap after alignment.
void check_apart(const ImportOptions& options);

}  // namespace tessera::trace::cli
