// blocks.cpp - malloc and its relatives on top of the calls.
#include <cstdlib>
#include <cstring>
#include <malloc.h>

#include "operations.h"

namespace differential {
namespace {

size_t any_size(Thread& t) {
    const unsigned kind = t.random.below(64);
    if (kind == 0) return 100000 + t.random.below(1 << 20);  // mmap, or the top of the heap
    return 1 + t.random.below(kind < 8 ? 9000 : 400);
}

/// Marks both ends, which check_everything and the next use look at.
void fill(Thread& t, Block& block) {
    const int value = static_cast<int>(t.random.below(256));
    memset(block.at, value, block.bytes < 256 ? block.bytes : 256);
    block.at[block.bytes - 1] = static_cast<char>(value);
}

uint64_t mark(char byte) { return static_cast<unsigned char>(byte); }

void check(Thread& t, const Block& block) {
    t.log.result("first", mark(block.at[0]));
    t.log.result("last", mark(block.at[block.bytes - 1]));
}

}  // namespace

void op_malloc(Thread& t) {
    Block& block = t.blocks[t.random.below(kBlocks)];
    const size_t bytes = any_size(t);
    const unsigned kind = t.random.below(8);
    t.log.begin("malloc", kind, static_cast<long>(bytes));
    if (block.at != nullptr) check(t, block);
    if (kind < 2 && block.at != nullptr) {
        char* got = static_cast<char*>(realloc(block.at, bytes));
        t.log.result("null", got == nullptr);
        if (got != nullptr) {
            const bool kept = bytes >= block.bytes || bytes <= 256;  // marks at both ends, or inside the filled start
            const size_t last = (bytes < block.bytes ? bytes : block.bytes) - 1;
            t.log.result("kept", mark(got[0]) | (kept ? mark(got[last]) << 8 : 0));
            block = {got, bytes};
        }
    } else {
        free(block.at);
        block = {kind == 3 ? static_cast<char*>(calloc(1, bytes)) : static_cast<char*>(malloc(bytes)), bytes};
        t.log.result("null", block.at == nullptr);
        if (block.at != nullptr && kind == 3) {
            unsigned sum = 0;
            for (size_t i = 0; i < bytes; i += bytes < 9000 ? 1 : 509) sum |= static_cast<unsigned char>(block.at[i]);
            t.log.result("zero", sum);
        }
    }
    if (block.at != nullptr) {
        t.log.result("usable", malloc_usable_size(block.at) >= bytes);
        t.log.result("aligned", reinterpret_cast<uintptr_t>(block.at) % 16);
        fill(t, block);
    }
    t.log.end();
}

void op_memalign(Thread& t) {
    Block& block = t.blocks[t.random.below(kBlocks)];
    const size_t align = size_t{16} << t.random.below(t.random.one_in(16) ? 18 : 9), bytes = any_size(t);
    const bool posix = t.random.one_in(2);
    t.log.begin("memalign", static_cast<long>(align), static_cast<long>(bytes), posix);
    free(block.at);
    void* got = nullptr;
    if (posix) t.log.result("posix_memalign", static_cast<uint64_t>(posix_memalign(&got, align, bytes)));
    else got = aligned_alloc(align, (bytes + align - 1) / align * align);
    block = {static_cast<char*>(got), bytes};
    t.log.result("null", got == nullptr);
    t.log.result("aligned", reinterpret_cast<uintptr_t>(got) % align);
    if (got != nullptr) fill(t, block);
    t.log.end();
}

}  // namespace differential
