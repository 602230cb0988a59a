// run_output.h - writes the finished cells of `tessera-sim run`, each as soon as it and those before it are done.
//
// The row goes to stdout, units and structures and the kernel's work to the files of --interval-out, --designs-out and --kernel-out. These are flushed before the row,
// so that a program that sees a row also finds what belongs to it. With variants, every line begins with the variant's label.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "cli/groups.h"
#include "cli/output_file.h"
#include "engine/estimate.h"

namespace tessera::sim {

class RunOutput {
public:
    /// `inputs`: files that must not be overwritten.
    RunOutput(size_t count, bool with_variants, const std::string& units_path, const std::string& designs_path,
              const std::string& kernel_path, const std::vector<std::string>& inputs)
        : with_variants_(with_variants), rows_(count, [this](const std::string& text) { emit(text); }) {
        const std::string head = with_variants ? "variant," : "";
        open(units_, "--interval-out", units_path, inputs, head + unit_header());
        open(designs_, "--designs-out", designs_path, inputs, head + design_header());
        open(kernel_, "--kernel-out", kernel_path, inputs, head + kernel_header());
        write_row(head + row_header() + "\n");
    }
    /// units, designs, kernel: lines. variant: its label, which is not written without variants.
    void put(size_t place, const std::string& variant, const Row& row, const std::string& units, const std::string& designs,
             const std::string& kernel) {
        rows_.put(place, labelled(variant, units) + '\0' + labelled(variant, designs) + '\0' + labelled(variant, kernel) + '\0' + labelled(variant, format_row(row) + "\n"));
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
        const size_t units_end = text.find('\0'), designs_end = text.find('\0', units_end + 1), kernel_end = text.find('\0', designs_end + 1);
        write(units_, text.substr(0, units_end));
        write(designs_, text.substr(units_end + 1, designs_end - units_end - 1));
        write(kernel_, text.substr(designs_end + 1, kernel_end - designs_end - 1));
        write_row(text.substr(kernel_end + 1));
        ++emitted_;
    }

    bool with_variants_;
    std::optional<OutputFile> units_, designs_, kernel_;
    InOrder rows_;
    size_t emitted_ = 0;
};

}  // namespace tessera::sim
