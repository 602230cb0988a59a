// weave_fuzz.cpp - files of fault templates, whole and damaged: what is accepted has offsets inside their bases, and blocks with the
// instructions of the text.
#include "base/error.h"
#include "base/woven.h"
#include "engine/weave/compiled.h"
#include "fuzz.h"

using namespace tessera;
using namespace tessera::sim;
using namespace tessera::sim::weave;

namespace {

std::string random_templates(fuzz::Random& rng) {
    static constexpr const char* kinds[] = {"write-4kb", "read-zero", "table", "write-2mb"};
    std::string text = "tessera-fault-templates 1\nkernel 6.12." + std::to_string(rng() % 200) + "\n";
    for (uint64_t left = 1 + rng() % 4; left > 0; --left) {
        text += std::string("template ") + kinds[rng() % 4] + " " + std::to_string(rng() % 5) + " " + std::to_string(rng() % 2) + "\n";
        for (uint64_t steps = rng() % 20, i = 0; i < steps; ++i) {
            const uint64_t bytes = rng() % 8 ? 8 : 1 + rng() % 4096, what = bytes > 64 ? 2 + rng() % 2 : rng() % 4;
            char line[96];
            std::snprintf(line, sizeof line, "%u %c %s %x %u\n", unsigned(i == 0 ? 1 : rng() % 40), "lsLS"[what],
                          name_of(static_cast<Base>(rng() % bases)), unsigned(rng() % 3 ? 0 : rng() % 5000), unsigned(bytes));
            text += line;
        }
        text += "end " + std::to_string(rng() % 30) + "\n";
    }
    return text;
}

const char* broken_rule(const Templates& templates) {
    uint64_t insns = 0;
    for (const FaultTemplate& one : templates.all) {
        insns += one.instructions();
        for (const TemplateStep& step : one.steps)
            if (step.bytes == 0 || (!step.string && step.bytes > 64)) return "an access has 1 to 64 bytes";
    }
    if (templates.all.empty()) return "there is a template";
    if (insns > 100000) return nullptr;  // the blocks take memory in proportion
    const CompiledTemplates compiled(templates, 7);
    uint64_t made = 0;
    for (const uint32_t count : woven_instruction_counts(compiled.blocks())) made += count;
    if (made != insns) return "blocks have the instructions of the text";
    for (const trace::StaticBlock& block : compiled.blocks())
        if (!is_woven(block) || block.insns.empty() || block.slots.size() > 65535)
            return "a block is woven and has a size that a stream can have";
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    const auto make = [](fuzz::Random& rng) {
        std::string text = random_templates(rng);
        if (rng() % 4)
            fuzz::mutate(text, rng,
                         {"template a 0 0\n", "end 0\n", "\n", " ", "fixed", "1 S page 0 2097152\n", "0 l stack 0 8\n", "kernel 5.15\n"});
        return text;
    };
    return fuzz::run_reader<Refusal>("weave_fuzz", count, arguments, make,
                                     [](const std::string& text, fuzz::Random&) { return broken_rule(parse_templates(text, "fuzz.txt")); });
}
