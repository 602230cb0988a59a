// Random and mutated layout files: the parser must return, must never read outside its input (checked by sanitizers), and
// may accept only layouts that follow the rules. Runs for the seconds given as argument; prints its seed.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "core/layout.h"
#include "fuzz.h"

using namespace mosalloc;

namespace {

constexpr const char* kWords[] = {"brk",
                                  "mmap",
                                  "file",
                                  "-1",
                                  "0",
                                  "4096",
                                  "2097152",
                                  "2MB",
                                  "1GB",
                                  "64MB",
                                  "4GB",
                                  ",",
                                  ",",
                                  ",",
                                  "\n",
                                  "\n",
                                  "\r\n",
                                  " ",
                                  "type,pageSize,startOffset,endOffset\n",
                                  "heap",
                                  "-5",
                                  "99999999999999999999",
                                  "9TB",
                                  "\t",
                                  "\"",
                                  "\xEF\xBB\xBF",
                                  "KIB",
                                  "7"};

std::string random_file(std::mt19937_64& rng) {
    std::string text = rng() % 8 == 0 ? "" : "type,pageSize,startOffset,endOffset\n";
    const size_t rows = rng() % 6;
    for (size_t i = 0; i < rows; ++i) {
        const uint64_t page = rng() % 2 == 0 ? kPage2M : kPage1G, start = rng() % 8 * page;
        if (rng() % 3 == 0) text += rng() % 2 == 0 ? "brk,-1,0,8GB\n" : "mmap,-1,0,16GB\n";
        text += std::string(rng() % 2 == 0 ? "brk," : "mmap,") + std::to_string(page) + "," + std::to_string(start) + "," +
                std::to_string(start + rng() % 4 * page) + "\n";
    }
    const size_t mutations = rng() % 4;
    for (size_t i = 0; i < mutations; ++i) {
        const size_t at = text.empty() ? 0 : rng() % (text.size() + 1);
        if (rng() % 3 == 0 && at < text.size()) text[at] = static_cast<char>(rng());
        else if (rng() % 2 == 0) text.insert(at, kWords[rng() % (sizeof kWords / sizeof *kWords)]);
        else text.erase(at, rng() % 5);
    }
    return text;
}

bool rules_hold(const Layout& layout) {
    for (size_t i = 0; i < layout.window_count; ++i) {
        const Window& w = layout.windows[i];
        if (w.end <= w.start || w.start % w.page_bytes != 0 || w.end % w.page_bytes != 0) return false;
        if (w.end > layout.pool_bytes[w.pool]) return false;
        const Window* before = i == 0 ? nullptr : &layout.windows[i - 1];
        if (before != nullptr && (before->pool > w.pool || (before->pool == w.pool && before->end > w.start))) return false;
    }
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    tessera::fuzz::Run run("layout_fuzz", count, arguments);
    auto layout = std::make_unique<Layout>();
    while (run.more()) {
        const std::string text = random_file(run.rng);
        const std::vector<char> exact(text.begin(), text.end());  // no byte behind the end
        char message[128];
        Text error(message);
        const bool good = parse_layout(exact.data(), exact.size(), "fuzz", layout.get(), &error);
        run.refusals += good ? 0 : 1;
        if (!good && error.length() == 0) run.broken(text, "a refusal has a message");
        run.accepted(text, good && !rules_hold(*layout) ? "an accepted layout obeys the rules" : nullptr);
    }
    return run.finish();
}
