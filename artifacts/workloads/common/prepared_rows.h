// prepared_rows.h - rows of a graph in a prepared file: written from buckets, loaded as build_csr would build them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/csr.h"
#include "common/preparation.h"
#include "common/row_buckets.h"

namespace tessera::workloads {

/// The two sections of one direction. `name` is "outgoing", "incoming" or "both".
template <class Vertex>
void add_row_sections(std::vector<Section>& sections, const std::string& name, uint64_t vertices, uint64_t entries) {
    sections.push_back({name + "-offsets", sizeof(uint64_t), vertices + 1});
    sections.push_back({name + "-ends", sizeof(Vertex), entries == 0 ? 1 : entries});  // as build_csr
}

/// Writes the rows to sections `first_section` and the next.
template <class Vertex>
void write_rows(Preparation& preparation, size_t first_section, const RowBuckets<Vertex>& rows) {
    PreparedWriter& writer = preparation.writer;
    const bool right = rows.emit([&](uint64_t first_row, auto offsets, uint64_t first_entry, auto entries) {
        writer.write(first_section, first_row, offsets.data(), offsets.size());
        if (!entries.empty()) writer.write(first_section + 1, first_entry, entries.data(), entries.size());
    });
    if (rows.entries() == 0) {
        const Vertex unused{};
        writer.write(first_section + 1, 0, &unused, 1);
    }
    if (!right) preparation.complaint = "the entries of the rows are not the edges of the generator";
}

template <class Vertex>
Csr<Vertex> load_rows(const PreparedFile& file, const std::string& name, uint64_t vertices) {
    auto offsets = file.load<uint64_t>("CSR offsets", name + "-offsets", vertices + 1);
    auto ends = file.load<Vertex>("CSR targets", name + "-ends");
    const uint64_t entries = offsets[vertices];
    if (offsets[0] != 0 || (entries == 0 ? 1 : entries) != ends.size())
        file.damaged("the offsets of '" + name + "' run from " + std::to_string(offsets[0]) + " to " + std::to_string(entries) +
                     ", its array has " + std::to_string(ends.size()) + " ends");
    return {std::move(offsets), std::move(ends)};
}

}  // namespace tessera::workloads
