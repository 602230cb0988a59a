// prepared_file.h - reads a prepared file (prepared_format.h) into arrays of the program.
//
// Contract: the constructor checks the header, the size of the file, and that the data has the shape that was asked for.
// Arrays are read straight into their own memory in pieces of 16 MB, so a recorded program has the same memory as one
// that builds them. Checksums are compared only if asked for: under emulation that would take minutes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/anonymous_array.h"
#include "common/descriptor.h"
#include "common/prepared_format.h"

namespace tessera::workloads {

enum class Verify { no, yes };

class PreparedFile {
public:
    PreparedFile(const std::string& program, const std::string& path, const Shape& asked, Verify verify);

    /// An array of the file. Throws Error if it is missing, or has elements of another size.
    template <class T>
    AnonymousArray<T> load(const char* memory_name, const std::string& section) const {
        const Section& found = find(section, sizeof(T));
        AnonymousArray<T> array(memory_name, found.elements);
        read_into(found, 0, array.data(), array.bytes());
        return array;
    }

    /// The same, and the array must have `elements`.
    template <class T>
    AnonymousArray<T> load(const char* memory_name, const std::string& section, uint64_t elements) const {
        expect_elements(find(section, sizeof(T)), elements);
        return load<T>(memory_name, section);
    }

    /// Calls use(first, data, count) for consecutive parts of an array, which are read into `buffer`.
    template <class T, class Use>
    void stream(const std::string& section, T* buffer, uint64_t room, Use&& use) const {
        const Section& found = find(section, sizeof(T));
        for (uint64_t first = 0; first < found.elements; first += room) {
            const uint64_t count = room < found.elements - first ? room : found.elements - first;
            read_into(found, first * sizeof(T), buffer, count * sizeof(T));
            use(first, buffer, count);
        }
    }

    /// Compares every checksum of the file; throws Error for the first that is wrong.
    void check_all(unsigned threads) const;

    [[noreturn]] void damaged(const std::string& found) const;

    uint64_t bytes() const { return header_.file_bytes; }
    uint64_t checksum() const { return header_.table_sum; }

private:
    const Section& find(const std::string& name, uint64_t element_bytes) const;
    void expect_elements(const Section& section, uint64_t elements) const;
    void expect_shape(const Shape& asked) const;
    void read_table();
    /// `from` is a multiple of kSumBytes if checksums are compared.
    void read_into(const Section& section, uint64_t from, void* to, uint64_t bytes) const;
    void read_exactly(void* to, uint64_t bytes, uint64_t offset) const;
    void compare_sums(const Section& section, uint64_t from, const void* data, uint64_t bytes) const;

    std::string path_, remedy_;
    Descriptor file_;
    PreparedHeader header_;
    std::vector<uint64_t> table_;  ///< empty unless checksums are compared
};

}  // namespace tessera::workloads
