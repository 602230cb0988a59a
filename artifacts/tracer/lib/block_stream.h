// block_stream.h - the sequence of executed blocks, as exceptions to "the same successor as last time".
//
// Each block remembers its two most recent successors. The stream alternates: how many executions followed
// the first guess, then one that did not (1 = the second guess, k + 2 = block k, 0 = end of frame). Loops
// need no bytes and alternating branches about two bytes, before zstd.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::trace {

std::string encode_blocks(std::span<const uint32_t> ids, size_t block_total);

/// False when `text` is not a stream of exactly `executions` ids below `block_total`.
bool decode_blocks(const char* text, size_t size, size_t executions, size_t block_total, std::vector<uint32_t>& ids);

}  // namespace tessera::trace
