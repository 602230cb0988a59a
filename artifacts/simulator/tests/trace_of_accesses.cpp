// trace_of_accesses.cpp - a trace of given accesses with given sizes, for tests of the programs: no import has sizes.
//
//   trace_of_accesses OUT HEAP_BASE ANON_BASE POOL_BYTES < lines `address bytes is_store`
//
// Each access is an instruction of its own; those of equal size and direction share a block.
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "tessera/trace/trace.h"

using namespace tessera;

int main(int count, char** arguments) {
    if (count != 5) return std::fputs("usage: trace_of_accesses OUT HEAP_BASE ANON_BASE POOL_BYTES\n", stderr), 2;
    const auto number = [&](int i) { return uint64_t{std::strtoull(arguments[i], nullptr, 10)}; };
    try {
        trace::Writer writer = trace::Writer::create(arguments[1]);
        std::map<std::pair<unsigned, unsigned>, uint32_t> blocks;
        uint64_t address;
        unsigned bytes, is_store;
        while (std::scanf("%" SCNu64 " %u %u", &address, &bytes, &is_store) == 3) {
            const auto [at, is_new] = blocks.try_emplace({bytes, is_store});
            if (is_new) {
                const auto kind = is_store ? trace::InsnKind::store : trace::InsnKind::load;
                at->second =
                    writer.add_block({0x401000 + 16 * blocks.size(), {{2, 4, 2, kind, 1, 4}}, {{0, uint8_t(is_store), uint8_t(bytes)}}});
            }
            const uint8_t stores = uint8_t(is_store);
            writer.append(at->second, &address, &stores, 1);
        }
        if (!std::feof(stdin)) return std::fputs("a line is no `address bytes is_store`\n", stderr), 2;
        trace::Header header;
        header.program = "accesses";
        header.origin = "qemu";
        header.pools = {{trace::PoolKind::heap, number(2), number(4), number(4)}, {trace::PoolKind::anon, number(3), number(4), number(4)}};
        writer.finish(header);
    } catch (const std::exception& error) {
        return std::fprintf(stderr, "%s\n", error.what()), 1;
    }
}
