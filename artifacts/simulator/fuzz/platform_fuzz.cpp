// platform_fuzz.cpp - flat platform files: random values in and out of bounds, then mutated text. Accepted platforms follow
// the bounds and the rules; error messages contain a remedy.
#include "base/error.h"
#include "base/platform.h"
#include "fuzz.h"

using namespace tessera;
using namespace tessera::sim;

namespace {

uint64_t random_number(const PlatformKey& row, fuzz::Random& rng) {
    switch (rng() % 64) {
        case 0: return row.least - 1;
        case 1: return row.most + 1;
        case 2: return row.most;
        case 3: return fuzz::border(rng);
        default: return row.least + (row.most > row.least ? rng() % std::min<uint64_t>(row.most - row.least + 1, 9) : 0);
    }
}

/// Most files are valid platforms in which a few values were changed: rules between keys are reached often.
std::string random_file(fuzz::Random& rng) {
    std::string text;
    for (const PlatformKey& row : platform_keys()) {
        const std::string key = row.key;
        std::string value = row.word ? "lru" : std::to_string(row.least);
        if (key.starts_with("cache.") && key.ends_with(".bytes")) value = "65536";
        if (key.starts_with("tlb.l1d.") && (key.ends_with(".entries") || key.ends_with(".ways"))) value = "1";
        if (key.starts_with("prefetch.") && row.word) value = "none";
        if (rng() % 32 == 0) value = row.word ? (rng() % 4 ? "stream" : "two words") : std::to_string(random_number(row, rng));
        if (rng() % 256 == 0) continue;  // keys with a default may be absent
        text += key + " = " + value + (rng() % 64 == 0 ? " # why\r\n" : "\n");
    }
    if (rng() % 3 == 0)
        fuzz::mutate(text, rng,
                     {"=", "#", "\n", " = 1\n", "nan", "-1", "1e9", "0x10", "\r", std::string_view("\0", 1), "core.mshrs = 3\n",
                      "design.conventional.size = 3\n", "design..x = 1\n", "\xff"});
    return text;
}

bool whole(const Geometry& g) { return g.entries == 0 ? g.ways == 0 : g.ways != 0 && g.entries % g.ways == 0; }

const char* broken_rule(Platform p) {
    for (const PlatformKey& row : platform_keys()) {
        if (row.word == nullptr && (row.field(p) < row.least || row.field(p) > row.most)) return "each number is within its bounds";
        if (row.word != nullptr && (row.word(p).name.empty() || row.word(p).name.find_first_of(" \n\t=") != std::string::npos))
            return "each name is a name";
    }
    for (const Geometry& g :
         {p.l1_4kb, p.l1_2mb, p.l1_1gb, p.l1i, p.stlb, p.stlb_2mb, p.stlb_1gb, p.pwc_pde, p.pwc_pdpte, p.pwc_pml4e, p.pwc_pml5e})
        if (!whole(g)) return "structures have whole sets";
    for (const CacheGeometry& c : {p.l1d, p.l2, p.l3})
        if (c.sets() == 0 || c.sets() * c.ways * 64 != c.bytes) return "caches have whole sets";
    if ((p.l1_2mb.entries == 0) != (p.l1_2mb_in_4kb == 1) || (p.l1_1gb.entries == 0) != (p.l1_1gb_in_4kb == 1))
        return "each size has one L1 array";
    if (p.l1d.load_cycles > p.l2.load_cycles || p.l2.load_cycles > p.l3.load_cycles || p.l3.load_cycles > p.memory_load_cycles)
        return "levels get slower";
    if (p.dram.channels != 0 && p.dram.row_hit_saves_cycles >= p.memory_load_cycles) return "an open row takes time";
    return nullptr;
}

}  // namespace

int main(int count, char** arguments) {
    return fuzz::run_reader<Refusal>("platform_fuzz", count, arguments, random_file,
                                     [](const std::string& text, fuzz::Random&) { return broken_rule(parse_platform(text, "fuzz")); });
}
