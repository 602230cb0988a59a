// cli_fixture.h - runs tessera-sim as a process on a folder with a small trace, a platform and layouts.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>

#include "base/platform.h"
#include "base/text.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {

struct Output {
    int status;
    std::string out, err;
};

inline std::vector<std::string> lines(const std::string& text) {
    std::vector<std::string> all;
    for (std::string_view line : split(text, '\n'))
        if (!line.empty()) all.emplace_back(line);
    return all;
}

class CliFixture : public ::testing::Test {
protected:
    static constexpr const char* layout_header = "type,pageSize,startOffset,endOffset\nmmap,-1,0,67108864\n";

    void SetUp() override {
        folder = std::filesystem::temp_directory_path() / ("tessera-sim-test-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder);
        write_trace("trace.tst", 50000, 64 << 20);
        file("haswell.flat", flat(haswell()));
        file("growing-0.csv", layout_header);
        file("growing-8.csv", std::string(layout_header) + "mmap,2097152,0,67108864\n");
        file("bad,1.csv", "type,pageSize,startOffset,endOffset\nmmap,2097152,0,4096\n");
        file("list", path("growing-0.csv") + "\n" + path("bad,1.csv") + "\n" + path("growing-8.csv") + "\n");
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    static std::string flat(Platform p) {
        std::string text;
        for (const PlatformKey& row : platform_keys())
            text += std::string(row.key) + " = " + (row.word ? row.word(p).name : std::to_string(row.field(p))) + "\n";
        return text;
    }
    std::string path(const std::string& name) const { return (folder / name).string(); }
    void file(const std::string& name, const std::string& text) const { std::ofstream(path(name)) << text; }

    /// Random loads of 8 bytes, `offset` behind a multiple of 8; two instructions and one access a block execution.
    void write_trace(const std::string& name, int loads, uint64_t bytes, uint64_t offset = 0) const {
        auto writer = trace::Writer::create(path(name));
        trace::StaticBlock block;
        block.pc = 0x401000;
        block.insns = {insn(trace::InsnKind::load, reg(1), reg(2), reg(1), 1), insn(trace::InsnKind::alu, reg(2), reg(2))};
        block.slots = {{0, 0, 8}};
        const uint32_t id = writer.add_block(block);
        std::mt19937_64 random(8);
        for (int i = 0; i < loads; ++i) {
            const uint64_t address = anon_base + random() % bytes / 8 * 8 + offset;
            const uint8_t load = 0;
            writer.append(id, &address, &load, 1);
        }
        trace::Header header;
        header.program = "random reads";
        header.origin = "qemu";
        header.pools = {{trace::PoolKind::heap, heap_base, 64 << 20, 0}, {trace::PoolKind::anon, anon_base, 64 << 20, 64 << 20}};
        writer.finish(header);
    }
    /// Layouts w-0, w-1, ... with a window of 2MB pages each, and their list.
    void write_layouts(const std::string& list, size_t count) const {
        std::string text;
        for (size_t i = 0; i < count; ++i) {
            const std::string name = "w-" + std::to_string(i) + ".csv";
            const uint64_t begin = i % 30 * 2 * mib, end = begin + (1 + i % 2) * 2 * mib;
            file(name, layout_header + ("mmap,2097152," + std::to_string(begin) + "," + std::to_string(end) + "\n"));
            text += path(name) + "\n";
        }
        file(list, text);
    }

    Output run(const std::string& arguments) const {
        const std::string command = std::string(TESSERA_SIM) + " " + arguments + " >" + path("out") + " 2>" + path("err");
        const int status = std::system(command.c_str());
        return {WEXITSTATUS(status), read_text(path("out"), "output"), read_text(path("err"), "output")};
    }
    std::string common(const std::string& engine, const std::string& list = "list", const std::string& trace = "trace.tst") const {
        return "run --trace " + path(trace) + " --platform " + path("haswell.flat") + " --layouts " + path(list) + " --engine " + engine;
    }

    std::filesystem::path folder;
};

}  // namespace tessera::sim::testing
