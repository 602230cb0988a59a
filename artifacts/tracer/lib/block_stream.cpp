#include "block_stream.h"

#include <algorithm>

#include "bytes.h"

namespace tessera::trace {
namespace {

struct Successors {
    uint32_t first = 0;
    uint32_t second = 0;

    void miss(uint32_t actual) {
        second = first;
        first = actual;
    }
};

/// Executions between two checks of the free space; each takes two numbers of at most ten bytes.
constexpr size_t stretch = 4096;
constexpr size_t longest_pair = 20;

char* put_varint_at(char* to, uint64_t value) {
    for (; value >= 0x80; value >>= 7) *to++ = static_cast<char>(value | 0x80);
    *to++ = static_cast<char>(value);
    return to;
}

}  // namespace

std::string encode_blocks(std::span<const uint32_t> ids, size_t block_total) {
    std::string out;
    std::vector<Successors> memory(block_total + 1);
    uint32_t previous = static_cast<uint32_t>(block_total);  // one virtual block precedes the frame
    uint64_t run = 0;
    size_t used = 0;
    for (size_t begin = 0; begin < ids.size(); begin += stretch) {
        out.resize(std::max(out.size(), used + longest_pair * stretch));
        char* at = out.data() + used;
        for (const uint32_t id : ids.subspan(begin, std::min(stretch, ids.size() - begin))) {
            Successors& guess = memory[previous];
            previous = id;
            if (guess.first == id) {
                ++run;
                continue;
            }
            at = put_varint_at(at, run);
            at = put_varint_at(at, guess.second == id ? 1 : uint64_t{id} + 2);
            guess.miss(id);
            run = 0;
        }
        used = static_cast<size_t>(at - out.data());
    }
    out.resize(used);
    put_varint(out, run);
    put_varint(out, 0);
    return out;
}

bool decode_blocks(const char* text, size_t size, size_t executions, size_t block_total, std::vector<uint32_t>& ids) {
    ids.resize(executions);
    std::vector<Successors> memory(block_total + 1);
    Cursor in(text, size);
    uint32_t previous = static_cast<uint32_t>(block_total);
    size_t done = 0;
    while (in.ok()) {
        const uint64_t run = in.get_varint();
        if (run > executions - done || (run > 0 && block_total == 0)) return false;
        for (const size_t stop = done + run; done < stop; ++done) ids[done] = previous = memory[previous].first;
        const uint64_t token = in.get_varint();
        if (token == 0) return in.ok() && in.at_end() && done == executions;
        Successors& guess = memory[previous];
        const uint64_t id = token == 1 ? guess.second : token - 2;
        if (done == executions || id >= block_total) return false;
        guess.miss(static_cast<uint32_t>(id));
        ids[done++] = previous = static_cast<uint32_t>(id);
    }
    return false;
}

}  // namespace tessera::trace
