// pool_options.h - numbers and pools as the command line gives them; what is wrong is a UsageError.
#pragma once

#include <string>
#include <string_view>

#include "commands.h"

namespace tessera::trace::cli {

/// Decimal or 0x...; `option` is named where it is neither.
uint64_t number(const std::string& option, std::string_view text);

/// The pool of `--mmap-pool START:END` or `--brk-pool START:END`, aligned to 1GB; never empty.
Pool pool_option(const std::string& option, PoolKind kind, const std::string& text);

/// Refuses pools that share an address once they are aligned.
void check_apart(const ImportOptions& options);

}  // namespace tessera::trace::cli
