// sha256.h - SHA-256 (FIPS 180-4), enough for identities of traces; no dependency on a crypto library.
#pragma once

#include <string>
#include <string_view>

namespace tessera::trace {

/// Lower-case hex digest of `message`.
std::string sha256_hex(std::string_view message);

}  // namespace tessera::trace
