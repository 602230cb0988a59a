// woven.h - templates and a program with two page faults, for tests of woven kernel work.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "os/os_log.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {

/// Small templates of the kinds that RandomLog has.
inline const std::string small_text =
    "tessera-fault-templates 1\nkernel 6.12.117\n"
    "template write-4kb 0 0\n3 l stack 1000 8\n2 s struct 0 8\n1 S page 0 4096\n0 s struct 8 8\n4 s entry-1 0 8\nend 5\n"
    "template write-4kb 0 1\n1 l stack 1000 8\n1 S page 0 4096\n9 l fixed 2000 8\n1 s entry-1 0 8\nend 1\n"
    "template write-2mb 0 0\n1 S page 0 2097152\n2 s entry-2 0 8\nend 0\n"
    "template read-zero 0 0\n7 l fixed 3000 8\n1 s entry-1 0 8\nend 2\n"
    "template write-zero 0 0\n2 S page 0 4096\n1 s entry-1 0 8\nend 0\n"
    "template write-cow 0 0\n2 L source 0 4096\n0 S page 0 4096\n1 l source-struct 0 8\n1 s entry-1 0 8\nend 0\n"
    "template write-private 0 0\n1 L source 0 4096\n0 S page 0 4096\n1 s entry-1 0 8\nend 0\n"
    "template table 1 0\n1 S new-table 0 4096\n2 s parent 0 8\nend 3\n";

/// A program of stores under a log, both made by hand: a store to page 5 of the anonymous pool, then to page 6.
struct TwoFaults {
    TwoFaults()
        : TwoFaults([](os::Writer& writer) {
              writer.add({0, 0, os::Kind::map, 1, 1, false, false, true, 5, 1, 77, {9, 20, 30, 1000}});
              writer.add({2, 2, os::Kind::map, 1, 1, false, false, true, 6, 1, 78, {}});
          }) {}
    /// The same program under another log.
    explicit TwoFaults(const std::function<void(os::Writer&)>& write) {
        const uint32_t store = builder.block({insn(trace::InsnKind::store, reg(1), 0, reg(2), 1)}, {{0, 1, 8}});
        for (const uint64_t page : {5, 5, 6}) builder.run(store, {anon_base + page * 4096 + 8}, {1});
        stream.emplace(builder.finish());
        os::Header header;
        header.trace_checksum = stream->header().checksum;
        for (const trace::Pool& pool : stream->header().pools)
            header.pools.push_back({static_cast<uint8_t>(pool.kind), pool.base, pool.size_bytes});
        path = std::filesystem::temp_directory_path() / ("weave-" + std::to_string(getpid()) + ".oslog");
        os::Writer writer(path.string(), header);
        write(writer);
        writer.finish();
        layout = layout_of(std::make_shared<Mapping>(read_os_log(path.string(), stream->header())));
    }
    TwoFaults(const TwoFaults&) = delete;
    ~TwoFaults() { std::filesystem::remove(path); }
    StreamBuilder builder;
    std::optional<MemoryStream> stream;
    std::filesystem::path path;
    Layout layout;
};

}  // namespace tessera::sim::testing
