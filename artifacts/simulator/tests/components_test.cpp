// components_test.cpp - names: each kind's list, unknown names, duplicates, and numbers that a component cannot work with.
#include <gtest/gtest.h>

#include <functional>

#include "mmu/components.h"
#include "os/address_limit.h"
#include "replacement/replacement.h"
#include "support/platforms.h"
#include "support/synthetic.h"

namespace tessera::sim::testing {
namespace {

std::string message(const std::function<void()>& act) {
    try {
        act();
    } catch (const Refusal& refusal) {
        return refusal.what();
    }
    return "";
}

TEST(Components, EveryKindHasItsBuiltInNames) {
    std::map<std::string, std::vector<std::string>> found;
    for (const ComponentKind& kind : component_kinds())
        for (const ComponentInfo& info : kind.components) {
            found[kind.name].push_back(info.name);
            EXPECT_FALSE(info.sentence.empty()) << info.name;
        }
    const std::map<std::string, std::vector<std::string>> built_in = {{"allocators", {"identity", "scattered"}},
                                                                      {"branch-predictors", {"gshare", "perfect", "tage"}},
                                                                      {"designs", {"conventional"}},
                                                                      {"page-tables", {"radix"}},
                                                                      {"prefetchers", {"none", "stream", "stride"}},
                                                                      {"replacements", {"lru", "srrip", "tree-plru"}},
                                                                      {"tlbs", {"split"}},
                                                                      {"walk-caches", {"paging-structure"}}};
    for (const auto& [kind, names] : built_in)
        for (const std::string& name : names)
            EXPECT_NE(std::find(found[kind].begin(), found[kind].end(), name), found[kind].end()) << kind << " " << name;
    EXPECT_EQ(found.size(), built_in.size());
}

struct Wrong {
    const char* key;
    std::function<void(Platform&)> spoil;
    const char* a_valid_name;
};

TEST(Components, UnknownNamesAreRefusedWithKeyAndValidNames) {
    const Wrong rows[] = {
        {"mmu.design", [](Platform& p) { p.mmu_design = "nonsense"; }, "conventional"},
        {"tlb.organisation", [](Platform& p) { p.tlb_organisation = "nonsense"; }, "split"},
        {"tlb.l1d.replacement", [](Platform& p) { p.l1_replacement = "nonsense"; }, "lru, srrip, tree-plru"},
        {"tlb.l1i.replacement", [](Platform& p) { p.l1i_replacement = "nonsense"; }, "lru, srrip, tree-plru"},
        {"tlb.stlb.replacement", [](Platform& p) { p.stlb_replacement = "nonsense"; }, "lru, srrip, tree-plru"},
        {"cache.l1d.replacement", [](Platform& p) { p.l1d.replacement = "nonsense"; }, "lru, srrip, tree-plru"},
        {"cache.l2.replacement", [](Platform& p) { p.l2.replacement = "nonsense"; }, "lru, srrip, tree-plru"},
        {"cache.l3.replacement", [](Platform& p) { p.l3.replacement = "nonsense"; }, "lru, srrip, tree-plru"},
        {"pwc.kind", [](Platform& p) { p.walk_cache = "nonsense"; }, "paging-structure"},
        {"page_table.format", [](Platform& p) { p.page_table_format = "nonsense"; }, "radix"},
        {"prefetch.l1d.kind", [](Platform& p) { p.prefetch_l1d.kind = "nonsense"; }, "none, stream, stride"},
        {"prefetch.l2.kind", [](Platform& p) { p.prefetch_l2.kind = "nonsense"; }, "none, stream, stride"},
        {"memory.allocator", [](Platform& p) { p.allocator = "nonsense"; }, "identity, mapped, scattered"},
        {"branch.predictor", [](Platform& p) { p.branch_predictor = "nonsense"; }, "gshare, perfect, tage"},
    };
    EXPECT_NO_THROW(check_components(haswell()));
    for (const Wrong& row : rows) {
        Platform p = haswell();
        row.spoil(p);
        const std::string said = message([&] { check_components(p); });
        EXPECT_NE(said.find(std::string("platform key ") + row.key + " = nonsense: no such"), std::string::npos) << said;
        EXPECT_NE(said.find(row.a_valid_name), std::string::npos) << said;
        StreamBuilder builder;
        builder.load(builder.independent_load(), heap_base);
        MemoryStream stream = builder.finish();
        for (const char* engine : {"reference", "partial", "timing"})
            EXPECT_NE(message([&] { simulate(engine, p, stream, {all_4kb()}); }).find(row.a_valid_name), std::string::npos)
                << engine << " " << row.key;
    }
}

TEST(Components, NumbersThatAPrefetcherCannotUseAreRefused) {
    Platform p = haswell();
    p.prefetch_l2 = {"stream", 16, 0, 8};
    EXPECT_NE(message([&] { check_components(p); }).find("degree = 0"), std::string::npos);
}

TEST(Registry, ADuplicateNameAborts) {
    const auto twice = [] {
        replacements().add("lru", "again", {}, [](const OwnValues&, size_t, size_t, const Platform&) { return nullptr; });
    };
    EXPECT_DEATH(twice(), "replacements .*lru");
}

TEST(AddressLimit, RefusesTheFirstAddressBeyond48Bits) {
    EXPECT_EQ(message([] { check_address((uint64_t{1} << 48) - 1); }), "");
    EXPECT_NE(message([] { check_address(uint64_t{1} << 48); }).find("0x1000000000000"), std::string::npos);
    StreamBuilder builder;
    builder.load(builder.independent_load(), uint64_t{1} << 48);
    MemoryStream stream = builder.finish();
    for (const char* engine : {"reference", "partial", "timing"})
        EXPECT_NE(message([&] { simulate(engine, haswell(), stream, {all_4kb()}); }).find("0x1000000000000"), std::string::npos) << engine;
}

}  // namespace
}  // namespace tessera::sim::testing
