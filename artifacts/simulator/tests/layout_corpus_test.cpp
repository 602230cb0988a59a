// layout_corpus_test.cpp - the examples of artifacts/layout-format with pools so large that only the grammar's rules apply.
#include <gtest/gtest.h>

#include <memory>

#include "base/error.h"
#include "corpus.h"
#include "os/layout.h"

namespace tessera::sim::testing {
namespace {

namespace corpus = layout_file::corpus;

const std::vector<trace::Pool> pools = {{trace::PoolKind::heap, gib, INT64_MAX, 0}, {trace::PoolKind::anon, 2 * gib, INT64_MAX, 0}};

void expect_refusal(const std::string& text, const std::string& code, uint64_t line) {
    try {
        parse_layout(text, "L.csv", pools);
        ADD_FAILURE() << "accepted, expected " << code;
    } catch (const Refusal& refusal) {
        const std::string message = refusal.what();
        EXPECT_NE(message.find("[" + code + "]\n  what to do: "), std::string::npos) << message << "\nexpected " << code;
        EXPECT_NE(message.find("layout L.csv line " + std::to_string(line) + ", column "), std::string::npos) << message;
    }
}

TEST(LayoutCorpus, AcceptedFilesMeanWhatTheyShould) {
    const auto examples = corpus::accepted();
    EXPECT_GT(examples.size(), 10u);
    for (const auto& example : examples) {
        SCOPED_TRACE(example.name);
        const std::unique_ptr<layout_file::File> file(new layout_file::File);
        layout_file::Refusal why;
        ASSERT_TRUE(layout_file::read(example.text.data(), example.text.size(), file.get(), &why));
        EXPECT_EQ(corpus::canonical(*file), example.expected);
        std::string found;
        for (const Window& w : parse_layout(example.text, "L.csv", pools).windows)
            found += corpus::row(w.pool == trace::PoolKind::heap ? layout_file::kHeap : layout_file::kAnon,
                                 std::to_string(bytes_of(w.page_size).value), w.begin, w.end);
        EXPECT_EQ(found, corpus::large_windows(example.expected));
    }
}

TEST(LayoutCorpus, RefusedFilesNameRuleAndLine) {
    const auto examples = corpus::refused();
    EXPECT_GT(examples.size(), 30u);
    for (const auto& example : examples) {
        SCOPED_TRACE(example.name);
        expect_refusal(example.text, example.code, example.line);
    }
}

TEST(LayoutCorpus, TheLimitOfWindowsIsTheLast) {
    EXPECT_EQ(parse_layout(corpus::many_windows(layout_file::kMaxWindows), "L.csv", pools).windows.size(), layout_file::kMaxWindows);
    expect_refusal(corpus::many_windows(layout_file::kMaxWindows + 1), "layout/window-limit", layout_file::kMaxWindows + 3);
}

}  // namespace
}  // namespace tessera::sim::testing
