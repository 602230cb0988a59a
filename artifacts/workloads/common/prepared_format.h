// prepared_format.h - the header of a prepared file: arrays that a program has built once and loads from then on.
//
// Format, version 1 (numbers in text are decimal, arrays little endian):
//   4096 bytes of text, filled up with zeros, one item a line:
//     tessera-prepared 1
//     argument NAME VALUE                          what shaped the data, in a fixed order; at least one
//     section NAME ELEMENT_BYTES ELEMENTS OFFSET   an array; offsets are multiples of 4096, ascending
//     sums OFFSET SUM                              where the table of checksums is, and its own sum
//     bytes SIZE                                   of the file
//     header SUM                                   sum_of_words() of the lines before, filled up with zeros to 4096
//   the arrays, with zeros between them;
//   the table: for each section, a sum_of_words() for each 4 MB of it, as uint64. Positions count from its start.
// decode_header() accepts only a header whose numbers fit each other and the size of the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::workloads {

inline constexpr uint64_t kPreparedVersion = 1, kHeaderBytes = 4096, kSumBytes = uint64_t{4} << 20;

/// Names and values of the arguments that shape the data.
using Shape = std::vector<std::pair<std::string, std::string>>;

struct Section {
    std::string name;  ///< one word
    uint64_t element_bytes = 0, elements = 0, offset = 0;

    uint64_t bytes() const { return element_bytes * elements; }
    uint64_t sums() const { return (bytes() + kSumBytes - 1) / kSumBytes; }
};

struct PreparedHeader {
    Shape shape;
    std::vector<Section> sections;
    uint64_t table_offset = 0, table_sum = 0, file_bytes = 0;

    /// Sets the offsets of the sections, of the table, and the size of the file.
    void lay_out();
    uint64_t table_bytes() const;
};

/// kHeaderBytes of text; throws Error if the shape is too long or cannot be written in lines.
std::string encode_header(const PreparedHeader& header);

/// `start` holds the first bytes of a file of `file_bytes` (kHeaderBytes of them, or the whole file).
/// Throws Error, which `remedy` ends.
PreparedHeader decode_header(const std::string& path, std::string_view start, uint64_t file_bytes, const std::string& remedy);

}  // namespace tessera::workloads
