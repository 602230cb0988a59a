// The examples of artifacts/layout-format: the library reads the accepted files correctly, and rejects the others with the
// right rule and line.
#include <gtest/gtest.h>

#include <memory>

#include "core/layout.h"
#include "corpus.h"

using namespace mosalloc;
namespace corpus = tessera::layout_file::corpus;

namespace {

struct ParsedExample {
    bool good;
    std::unique_ptr<Layout> layout = std::make_unique<Layout>();
    std::string error;

    explicit ParsedExample(const std::string& text) {
        char message[512];
        Text out(message);
        good = parse_layout(text.data(), text.size(), "L.csv", layout.get(), &out);
        error = message;
    }
};

void expect_refusal(const std::string& text, const std::string& code, uint64_t line) {
    const ParsedExample p(text);
    EXPECT_FALSE(p.good);
    EXPECT_NE(p.error.find("[" + code + "]\n  what to do: "), std::string::npos) << p.error << "\nexpected " << code;
    EXPECT_NE(p.error.find("layout L.csv line " + std::to_string(line) + ", column "), std::string::npos) << p.error;
}

TEST(LayoutCorpus, AcceptedFilesMeanWhatTheyShould) {
    const auto examples = corpus::accepted();
    EXPECT_GT(examples.size(), 10u);
    for (const auto& example : examples) {
        SCOPED_TRACE(example.name);
        const auto file = std::make_unique<tessera::layout_file::File>();
        tessera::layout_file::Refusal why;
        ASSERT_TRUE(tessera::layout_file::read(example.text.data(), example.text.size(), file.get(), &why));
        EXPECT_EQ(corpus::canonical(*file), example.expected);
        const ParsedExample p(example.text);
        ASSERT_TRUE(p.good) << p.error;
        std::string found;
        for (size_t i = 0; i < p.layout->window_count; ++i) {
            const Window& w = p.layout->windows[i];
            found += corpus::row(w.pool, std::to_string(w.page_bytes), w.start, w.end);
        }
        EXPECT_EQ(found, corpus::large_windows(example.expected));
        for (size_t pool = 0; pool < kPools; ++pool)
            EXPECT_EQ(p.layout->pool_bytes[pool],
                      file->pool_line[pool] == 0 ? kDefaultPoolBytes[pool] : align_up(file->pool_bytes[pool], kPage4K));
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
    const ParsedExample p(corpus::many_windows(tessera::layout_file::kMaxWindows));
    ASSERT_TRUE(p.good) << p.error;
    EXPECT_EQ(p.layout->pages(kPage2M), tessera::layout_file::kMaxWindows);
    expect_refusal(corpus::many_windows(tessera::layout_file::kMaxWindows + 1), "layout/window-limit",
                   tessera::layout_file::kMaxWindows + 3);
}

}  // namespace
