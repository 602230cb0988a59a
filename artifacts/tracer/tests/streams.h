// streams.h - random streams kept as plain vectors: the oracle that traces are compared with.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tessera/trace/trace.h"

namespace tessera::trace::testing {

struct Execution {
    uint32_t block;
    std::vector<uint64_t> addresses;
    std::vector<uint8_t> is_store;
};

struct Stream {
    std::vector<StaticBlock> blocks;
    std::vector<Execution> executions;
};

/// Names of the files beside `path` that begin with its name: the file itself, and what an unfinished writer left.
inline std::set<std::string> files_like(const std::string& path) {
    const std::filesystem::path whole(path);
    std::set<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(whole.parent_path())) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with(whole.filename().string())) found.insert(name);
    }
    return found;
}

inline StaticBlock make_block(uint64_t pc, int slots) {
    StaticBlock block{pc, {}, {}};
    for (int i = 0; i < slots + 1; ++i)
        block.insns.push_back({1u << (i % 16), 2u << (i % 16), 1u << (i % 16), i < slots ? InsnKind::load : InsnKind::branch,
                               static_cast<uint8_t>(i < slots), 4});
    for (int i = 0; i < slots; ++i) block.slots.push_back({static_cast<uint16_t>(i), static_cast<uint8_t>(i % 2), 8});
    return block;
}

/// Gives a block what a decoder may: a kind of branch at its end, early writes, a part of a string instruction.
inline void decorate(StaticBlock& block, std::mt19937_64& random) {
    block.insns.back().branch = static_cast<BranchKind>(random() % 7);
    for (StaticInsn& insn : block.insns) {
        insn.early_writes = insn.writes & random();
        if (random() % 8 == 0) insn.string = static_cast<StringPart>(random() % 3);
    }
}

/// Mixes strides, random pool addresses, neighbours of the last access and wild 64-bit values; a share of
/// the executions has an irregular count or flipped store flags.
inline Stream random_stream(uint64_t seed, size_t executions, int block_count) {
    std::mt19937_64 random(seed);
    Stream stream;
    for (int i = 0; i < block_count; ++i) stream.blocks.push_back(make_block(0x400000 + 64 * i, static_cast<int>(random() % 5)));
    for (StaticBlock& block : stream.blocks) decorate(block, random);
    uint64_t last = 0x7f0000000000;
    for (size_t e = 0; e < executions; ++e) {
        Execution execution{static_cast<uint32_t>(random() % 3 ? e % block_count : random() % block_count), {}, {}};
        size_t count = stream.blocks[execution.block].slots.size();
        if (random() % 16 == 0) count = random() % 40;
        for (size_t i = 0; i < count; ++i) {
            switch (random() % 6) {
                case 0: last = 0x4000000000 + random() % (1u << 30); break;
                case 1: last += static_cast<int64_t>(random() % 64000) - 32000; break;
                case 2: last -= random() % 100; break;
                case 3: last = random() % 64 ? last + 8 : random(); break;
                default: last += 64;
            }
            execution.addresses.push_back(last);
            execution.is_store.push_back(random() % 8 == 0 ? random() % 2 : i % 2);
        }
        stream.executions.push_back(execution);
    }
    return stream;
}

inline std::string temporary_path(const std::string& name) {
    return std::filesystem::temp_directory_path() / ("tessera-" + std::to_string(getpid()) + "-" + name + ".tst");
}

inline Header plain_header() {
    Header header;
    header.program = "program 100% \n two lines";
    header.origin = "qemu";
    header.pools = {{PoolKind::heap, 0x4000000000, 1u << 30, 4096}, {PoolKind::anon, 0x5000000000, 1u << 30, 8192}};
    return header;
}

inline void write_stream(const std::string& path, const Stream& stream, const Header& header = plain_header()) {
    Writer writer = Writer::create(path);
    for (const StaticBlock& block : stream.blocks) writer.add_block(block);
    for (const Execution& e : stream.executions)
        writer.append(e.block, e.addresses.data(), e.is_store.data(), static_cast<uint16_t>(e.addresses.size()));
    writer.finish(header);
}

inline std::string read_bytes(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

}  // namespace tessera::trace::testing
