// prepared_writer.h - writes a prepared file (prepared_format.h), by several threads, all or nothing.
//
// The bytes go to FILE.partial, which finish() renames to FILE. An error removes it. A killed preparation leaves it
// behind, and the next start overwrites it. A lock on it keeps a second preparation out while the first one runs.
// The file is not synced: whoever loads it after a crash of the machine finds a wrong checksum.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "common/descriptor.h"
#include "common/prepared_format.h"

namespace tessera::workloads {

class PreparedWriter {
public:
    /// Throws Error if the folder cannot be written or has no room for `most_bytes`.
    PreparedWriter(const std::string& path, Shape shape, uint64_t most_bytes);
    PreparedWriter(const PreparedWriter&) = delete;
    PreparedWriter& operator=(const PreparedWriter&) = delete;

    /// Gives each array its place. Only `name`, `element_bytes` and `elements` matter.
    void lay_out(std::vector<Section> sections);

    /// Writes elements first, first + 1, ... of an array. Threads may call it at the same time; each element
    /// is written once.
    template <class T>
    void write(size_t section, uint64_t first, const T* elements, uint64_t count) {
        static_assert(sizeof(T) % 4 == 0);
        write_bytes(section, first * sizeof(T), elements, count * sizeof(T));
    }

    struct Totals {
        uint64_t bytes;
        uint64_t checksum;  ///< of the table of checksums, and so of the data
    };
    /// Writes the table and the header, and gives the file its name.
    Totals finish();

private:
    /// FILE.partial, removed at the end unless it got another name; also when the constructor of the writer throws.
    struct Partial {
        std::string path;
        bool owned = false;
        ~Partial();
    };

    void lock_partial();
    void write_bytes(size_t section, uint64_t from, const void* data, uint64_t bytes);
    void put(const void* data, uint64_t bytes, uint64_t offset);
    [[noreturn]] void fail(int problem, const std::string& doing) const;

    std::string path_;
    PreparedHeader header_;
    Descriptor file_;
    Partial partial_;  // after file_: removed before the lock ends
    std::vector<std::vector<std::atomic<uint64_t>>> sums_;
};

}  // namespace tessera::workloads
