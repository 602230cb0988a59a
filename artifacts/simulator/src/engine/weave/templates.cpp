#include "engine/weave/templates.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace tessera::sim::weave {
namespace {

constexpr const char* head = "tessera-fault-templates 1";
constexpr const char* remedy = "write the file again: tessera lab run fault-templates --out FILE";
constexpr uint64_t most_instructions = 1000000, most_bytes = uint64_t{2} << 20, most_steps = 1000000, most_of_an_instruction = 16,
                   most_work = 20000000;

struct BaseRow {
    const char* name;
    uint64_t room;  ///< of its offsets, in bytes
};
constexpr uint64_t own_bytes = uint64_t{1} << 39, page_bytes = uint64_t{2} << 20, struct_bytes = 64 * 512;
constexpr std::array<BaseRow, bases> base_rows{{{"fixed", own_bytes},
                                                {"stack", own_bytes},
                                                {"memory-map", own_bytes},
                                                {"page", page_bytes},
                                                {"struct", struct_bytes},
                                                {"source", page_bytes},
                                                {"source-struct", struct_bytes},
                                                {"entry-1", 8},
                                                {"entry-2", 8},
                                                {"entry-3", 8},
                                                {"entry-4", 8},
                                                {"around", 128},
                                                {"table-1", 4096},
                                                {"table-2", 4096},
                                                {"table-3", 4096},
                                                {"table-4", 4096},
                                                {"new-table", 4096},
                                                {"new-struct", 64},
                                                {"parent", 8}}};

std::optional<uint64_t> hexadecimal(std::string_view word) {
    if (word.size() > 15 || word.find_first_of("ABCDEF") != std::string_view::npos) return std::nullopt;
    return whole_number(word, 16);
}

std::optional<uint64_t> number(std::string_view word, uint64_t most) {
    const auto found = whole_number(word);
    return found && *found <= most ? found : std::nullopt;
}

bool is_kind(std::string_view word) {
    return !word.empty() && word.size() <= 32 && word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string_view::npos;
}

/// Throws the reason as text.
TemplateStep step_of(const std::vector<std::string_view>& words) {
    const auto instructions = number(words[0], most_instructions), bytes = number(words[4], most_bytes), offset = hexadecimal(words[3]);
    const auto base = std::find_if(base_rows.begin(), base_rows.end(), [&](const BaseRow& row) { return words[2] == row.name; });
    const size_t what = std::string_view("lsLS").find(words[1]);
    if (words[1].size() != 1 || what == std::string_view::npos) throw std::string("an access is l, s, L or S");
    if (base == base_rows.end()) throw std::string("no such base");
    if (!instructions || !bytes || !offset || *bytes == 0) throw std::string("a number is wrong or too large");
    if (what < 2 && *bytes > 64) throw std::string("an access of more than 64 bytes");
    if (*offset >= base->room || *bytes > base->room - *offset) throw std::string("it is outside its base");
    return {uint32_t(*instructions), what % 2 == 1, what >= 2, static_cast<Base>(base - base_rows.begin()), *offset, uint32_t(*bytes)};
}

FaultTemplate template_of(const std::vector<std::string_view>& words) {
    const auto tables = number(words[2], 4), batch = number(words[3], 1);
    if (!is_kind(words[1]) || !tables || !batch) throw std::string("a template is KIND TABLES BATCH, at most 4 tables, batch 0 or 1");
    return {std::string(words[1]), uint32_t(*tables), *batch == 1, {}, 0};
}

}  // namespace

const char* name_of(Base base) { return base_rows[static_cast<size_t>(base)].name; }

uint64_t FaultTemplate::instructions() const {
    uint64_t count = tail;
    for (const TemplateStep& step : steps) count += step.instructions;
    return count;
}

Templates parse_templates(const std::string& text, const std::string& path) {
    Templates found;
    size_t line_number = 0;
    bool open = false;
    uint64_t work = 0;
    size_t same = 0;  // accesses of an instruction so far, but the first
    const auto refuse = [&](const std::string& reason) {
        throw Refusal("templates " + path + ", line " + std::to_string(line_number), reason + " [weave/template]", remedy);
    };
    for (const std::string_view raw : split(text, '\n')) {
        ++line_number;
        const std::string_view line = trim(raw);
        if (line_number == 1 && line != head) refuse(std::string("it must be '") + head + "'");
        if (line.empty() || line_number == 1) continue;
        const auto words = split(line, ' ');
        try {
            if (line_number == 2) {
                if (words.size() != 2 || words[0] != "kernel") throw std::string("it must be 'kernel VERSION'");
                found.kernel = words[1];
                if (!found.kernel.starts_with("6.12."))
                    throw Refusal(
                        "templates " + path,
                        "they are of kernel " + found.kernel + ", and logs are of one that follows Linux 6.12 [weave/other-kernel]",
                        "record faults of Linux 6.12: tessera lab faults stream record --help");
            } else if (!open && words.size() == 4 && words[0] == "template") {
                found.all.push_back(template_of(words));
                open = true;
            } else if (open && words.size() == 5) {
                TemplateStep step = step_of(words);
                auto& steps = found.all.back().steps;
                if (steps.empty() && step.instructions == 0) throw std::string("the first access has no instruction");
                same = step.instructions > 0 || step.string ? 0 : same + 1;
                if (same == most_of_an_instruction) throw std::string("an instruction has too many accesses");
                work += step.instructions + step.bytes / 64;
                if (work > most_work) throw std::string("the file has too many instructions and lines");
                if (steps.size() == most_steps) throw std::string("a template has too many accesses");
                steps.push_back(step);
            } else if (open && words.size() == 2 && words[0] == "end") {
                const auto tail = number(words[1], most_instructions);
                if (!tail) throw std::string("a number is wrong or too large");
                found.all.back().tail = uint32_t(*tail);
                open = false;
            } else {
                throw std::string("this line cannot stand here");
            }
        } catch (const std::string& reason) {
            refuse(reason);
        }
    }
    if (open || found.all.empty()) refuse(open ? "the file ends inside a template" : "the file has no template");
    return found;
}

Templates read_templates(const std::string& path) { return parse_templates(read_text(path, "file of templates"), path); }

}  // namespace tessera::sim::weave
