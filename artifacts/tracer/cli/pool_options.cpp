#include "pool_options.h"

#include <cstdio>

#include "spans.h"
#include "tessera/common/numbers.h"
#include "tessera/common/text.h"

namespace tessera::trace::cli {
namespace {

[[noreturn]] void refuse_pool(const std::string& asked, const std::string& found) {
    throw UsageError(asked, found, "give the pool's first address and its end (exclusive), e.g. 0x7f0000000000:0x7f0040000000");
}

uint64_t end_of(const Pool& pool) { return pool.base + pool.size_bytes; }

std::string shown(const char* option, const Pool& pool) {
    char text[80];
    std::snprintf(text, sizeof text, "%s 0x%llx:0x%llx", option, static_cast<unsigned long long>(pool.base),
                  static_cast<unsigned long long>(end_of(pool)));
    return text;
}

}  // namespace

uint64_t number(const std::string& option, std::string_view text) {
    if (const auto value = number_or_hex(text)) return *value;
    throw UsageError(option + " " + in_quotes(text), "not a 64-bit number", "write decimal digits, or 0x and hexadecimal digits");
}

Pool pool_option(const std::string& option, PoolKind kind, const std::string& text) {
    const std::string asked = option + " " + text;
    const size_t colon = text.find(':');
    if (colon == std::string::npos) refuse_pool(asked, "not START:END");
    const uint64_t begin = number(option, std::string_view(text).substr(0, colon)),
                   end = number(option, std::string_view(text).substr(colon + 1));
    if (begin >= end) refuse_pool(asked, "START is not below END, so the pool has 0 bytes");
    if (end > address_limit) refuse_pool(asked, "END is above 2^48, the limit of program addresses");
    return pool_over(kind, begin, end);
}

void check_apart(const ImportOptions& options) {
    if (!options.anon || !options.heap) return;
    if (options.anon->base >= end_of(*options.heap) || options.heap->base >= end_of(*options.anon)) return;
    throw UsageError(shown("--mmap-pool", *options.anon) + " and " + shown("--brk-pool", *options.heap),
                     "the pools overlap after alignment to 1GB", "give ranges that share no gigabyte, or give only the larger range");
}

}  // namespace tessera::trace::cli
