// SPDX-License-Identifier: GPL-2.0-only
// kinds.h - the kind of an instruction from its mnemonic: hundreds of AVX names follow a few patterns.
#pragma once

#include <string_view>

#include "tessera/trace/trace.h"

namespace tessera::tracer {

/// Kind of a computation; `alu` for moves and everything without a longer latency. Branches, which capstone
/// knows as groups, are not handled here.
trace::InsnKind kind_of_mnemonic(std::string_view mnemonic);

/// Whether an instruction that loads only copies what it loads: no execution unit works on the value.
bool is_move(std::string_view mnemonic);

}  // namespace tessera::tracer
