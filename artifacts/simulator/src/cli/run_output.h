// run_output.h - writes the finished cells of `tessera-sim run`, each as soon as it and those before it are done.
//
// The row goes to stdout; its units, the design's structures, the kernel's work, the times of faults and the rows of memory go to a file each. These are flushed
// before the row, so that a program that sees a row also finds what belongs to it. With variants, every line begins with the variant's label.
#pragma once

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/crew.h"
#include "cli/output_file.h"
#include "engine/estimate.h"
#include "engine/weave/fault_times.h"

namespace tessera::sim {

/// Lines that belong to a row, for the file of each option; empty where the option is not given.
struct RowParts {
    std::string units, designs, kernel, fault_times, dram_rows;
};

class RunOutput {
public:
    /// `paths`: of the files. `inputs`: files that must not be overwritten.
    RunOutput(size_t count, bool with_variants, const RowParts& paths, const std::vector<std::string>& inputs)
        : with_variants_(with_variants), rows_(count, [this](const std::string& text) { emit(text); }) {
        const std::string head = with_variants ? "variant," : "";
        open(files_[0], "--interval-out", paths.units, inputs, head + unit_header());
        open(files_[1], "--designs-out", paths.designs, inputs, head + design_header());
        open(files_[2], "--kernel-out", paths.kernel, inputs, head + kernel_header());
        open(files_[3], "--fault-times-out", paths.fault_times, inputs, head + weave::fault_times_header());
        open(files_[4], "--dram-rows-out", paths.dram_rows, inputs, head + dram_rows_header());
        write_row(head + row_header() + "\n");
    }
    bool has_fault_times() const { return files_[3].has_value(); }
    /// variant: its label, which is not written without variants.
    void put(size_t place, const std::string& variant, const Row& row, const RowParts& parts) {
        std::string text;
        for (const std::string* lines : {&parts.units, &parts.designs, &parts.kernel, &parts.fault_times, &parts.dram_rows})
            text += labelled(variant, *lines) + '\0';
        rows_.put(place, text + labelled(variant, format_row(row) + "\n"));
    }
    void flush() { rows_.flush(); }
    size_t emitted() const { return emitted_; }

private:
    std::string labelled(const std::string& variant, const std::string& lines) const {
        if (!with_variants_) return lines;
        std::string text;
        for (const std::string_view line : split(lines, '\n'))
            if (!line.empty()) text += csv_field(variant) + "," + std::string(line) + "\n";
        return text;
    }
    static void write_row(const std::string& text) {
        std::fputs(text.c_str(), stdout);
        flush_or_fail(stdout, "standard output");
    }
    static void open(std::optional<OutputFile>& file, const char* option, const std::string& path, const std::vector<std::string>& inputs,
                     const std::string& header) {
        if (path.empty()) return;
        file.emplace(option, path, inputs);
        write(file, header + "\n");
    }
    static void write(std::optional<OutputFile>& file, const std::string& text) {
        if (!file) return;
        std::fputs(text.c_str(), file->stream());
        file->flush();
    }
    void emit(const std::string& text) {
        size_t at = 0;
        for (auto& file : files_) {
            const size_t end = text.find('\0', at);
            write(file, text.substr(at, end - at));
            at = end + 1;
        }
        write_row(text.substr(at));
        ++emitted_;
    }

    bool with_variants_;
    std::array<std::optional<OutputFile>, 5> files_;  ///< in the order of RowParts
    InOrder rows_;
    size_t emitted_ = 0;
};

}  // namespace tessera::sim
