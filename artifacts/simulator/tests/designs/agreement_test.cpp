// agreement_test.cpp - every registered design gives equal counts on all three engines: random programs, platforms, mappings of one and
// two epochs, and logs with and without the kernel's work; H and M under a log are those under a mapping of the same pages. A new design is in
// these tests as soon as it is registered.
//
// TESSERA_AGREEMENT_SEEDS: random inputs for each design and test; 6 if it is not set.
#include <cstdlib>

#include "base/error.h"
#include "mmu/design.h"
#include "support/engines.h"
#include "support/random_inputs.h"
#include "support/random_mappings.h"
#include "support/random_woven.h"

namespace tessera::sim::testing {
namespace {

struct Properties {
    bool follows_changes = true, needs_caches = false;
};

Properties properties_of(const Platform& platform, const Stream& stream, const Layout& mapping) {
    const AddressSpace space(stream.header().pools, mapping);
    const auto design = designs().make(platform.mmu_design, DesignContext{platform, space});
    Properties found{true, design->needs_caches()};
    try {
        design->changed({VirtAddr(heap_base), VirtAddr(heap_base + 4096)});
    } catch (const Refusal&) {
        found.follows_changes = false;
    }
    return found;
}

/// Designs of the simulator. Examples and those of benchmarks are not made for mappings.
std::vector<std::string> shipped_designs() {
    std::vector<std::string> names;
    for (const std::string& name : designs().names())
        if (!name.starts_with("example-") && name.find("benchmark") == std::string::npos) names.push_back(name);
    return names;
}

/// The keys of the design for a virtual machine, where it has any.
OwnNumbers virtual_machine(const std::string& design) {
    if (design == "nested") return {{"only_4kb", 1}};
    if (design == "hvc-many-segment") return {{"dimensions", 2}, {"host_synonym_granules", 40}, {"translation_cycles", 0}};
    return {};
}

uint64_t seeds() {
    const char* const wanted = std::getenv("TESSERA_AGREEMENT_SEEDS");
    return wanted == nullptr ? 6 : std::stoul(wanted);
}

class DesignAgreement : public ::testing::TestWithParam<std::string> {};

TEST_P(DesignAgreement, OnRandomMappings) {
    for (uint64_t seed = 0; seed < seeds(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomInputs random(seed + 900);
        RandomMappings mappings(seed + 900);
        Platform platform = random.platform();
        platform.mmu_design = GetParam();
        if (seed % 2) platform.allocator = "mapped";
        platform.walker_serves_background = seed % 3 != 1;
        platform.walkers = seed % 3;  // 0: any number
        if (seed % 2) platform.mmu_design.own = virtual_machine(GetParam());
        MemoryStream stream = random.stream(5000);
        const uint64_t accesses = stream.header().accesses;
        std::vector<Layout> layouts = {mappings.mapping("one", 1, accesses), mappings.mapping("other", 1, accesses)};
        const Properties properties = properties_of(platform, stream, layouts[0]);
        if (properties.follows_changes) layouts.push_back(mappings.mapping("two", 2, accesses));
        const bool sampled = seed % 3 == 2 && !properties.needs_caches;
        const auto counts = on_all_engines(platform, stream, layouts, sampled ? Sampling{false, 3, 300, 200} : Sampling{});
        for (const LayoutCounts& of_mapping : counts) EXPECT_GT(of_mapping.units.at(0).runtime_cycles, 0u);
        if (::testing::Test::HasFailure()) return;
    }
}

TEST_P(DesignAgreement, OnRandomLogs) {
    for (uint64_t seed = 0; seed < seeds(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomWoven random(seed + 3000, 1500);
        Platform platform = RandomInputs(seed + 3000).platform();
        platform.mmu_design = GetParam();
        platform.allocator = "mapped";
        platform.page_table_levels = 4;
        const Properties properties = properties_of(platform, random.stream, random.layout);
        if (!properties.follows_changes) {
            EXPECT_THROW(simulate("partial", platform, random.stream, {random.layout}, {}), Refusal);
            return;
        }
        const bool sampled = seed % 3 == 2 && !properties.needs_caches;
        if (seed % 2 || GetParam() == "nested")  // no addresses of the kernel
            on_all_engines(platform, random.stream, {random.layout}, sampled ? Sampling{false, 3, 300, 200} : Sampling{});
        else on_all_engines(platform, random.woven, {random.layout});
        if (::testing::Test::HasFailure()) return;
    }
}

/// Both pools in chunks of up to 20 pages, some regions as 2MB: as a mapping, and as a log that maps all before the first access.
struct SameMemory {
    explicit SameMemory(uint64_t seed) {
        std::mt19937_64 random(seed);
        uint64_t frame = 512;
        for (const unsigned pool : {0u, 1u})
            for (uint64_t page = 0; page < RandomLog::pages;) {
                const bool large = page % 512 == 0 && random() % 4 == 0;
                const uint64_t pages = large ? 512 : std::min(1 + random() % 20, 512 - page % 512);
                frame = large ? (frame + 511) / 512 * 512 : frame + 1 + random() % 9;
                rows.push_back({pool == 0 ? trace::PoolKind::heap : trace::PoolKind::anon, page, frame, pages,
                                large ? PageSize::large_2mb : PageSize::small_4kb});
                for (uint64_t i = 0; i < pages; i += large ? pages : 1) {
                    os::Record r{0, 0, os::Kind::map};
                    r.cause = uint8_t(os::Cause::page), r.pool = uint8_t(pool), r.large = large;
                    r.page = page + i, r.pages = large ? pages : 1, r.frame = frame + i;
                    r.tables = {9, 20, 30 + pool};
                    if (!large) r.tables.push_back(uint32_t(1000 + 16 * pool + page / 512));
                    records.push_back(r);
                }
                page += pages, frame += pages;
            }
    }
    std::vector<MappingRow> rows;
    std::vector<os::Record> records;
};

/// H and M without data caches: tables have other addresses under a log.
TEST_P(DesignAgreement, OnALogAsOnTheMappingOfItsPages) {
    for (uint64_t seed = 0; seed < seeds(); ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        RandomLog program(seed + 5000);
        program.make(4000);
        MemoryStream stream = program.stream();
        const SameMemory memory(seed);
        const Layout mapping = mapping_of_rows(memory.rows), log = log_layout(stream.header(), memory.records);
        Platform platform = RandomInputs(seed + 5000).platform();
        platform.mmu_design = GetParam();
        if (GetParam() == "anchor") platform.mmu_design.own["distance_pages"] = 16;  // chosen before the log has pages
        platform.allocator = "mapped";
        platform.page_table_levels = 4;
        const Properties properties = properties_of(platform, stream, mapping);
        if (properties.needs_caches)
            GTEST_SKIP() << "H and M depend on data caches, whose lines of tables have other addresses under a log";
        if (!properties.follows_changes) GTEST_SKIP() << "the design does not run on a log";
        const auto counts_of = [&](const Layout& layout) {
            return simulate("partial", platform, stream, {layout}, Sampling{false, 0, 0, 0})[0].of(Source::program);
        };
        const Counts of_log = counts_of(log), of_mapping = counts_of(mapping);
        EXPECT_EQ(of_log.stlb_hits, of_mapping.stlb_hits);
        EXPECT_EQ(of_log.stlb_misses, of_mapping.stlb_misses);
        if (::testing::Test::HasFailure()) return;
    }
}

INSTANTIATE_TEST_SUITE_P(All, DesignAgreement, ::testing::ValuesIn(shipped_designs()), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

}  // namespace
}  // namespace tessera::sim::testing
