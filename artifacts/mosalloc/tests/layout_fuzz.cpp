// Random and mutated layout files: the parser must return, must never read outside its input (checked by sanitizers), and
// may accept only layouts that follow the rules. Runs for the seconds given as argument; prints its seed.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/layout.h"

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
    const double seconds = count > 1 ? atof(arguments[1]) : 3;
    const uint64_t seed = count > 2 ? strtoull(arguments[2], nullptr, 10) : std::random_device{}();
    std::mt19937_64 rng(seed);
    auto layout = std::make_unique<Layout>();
    uint64_t files = 0, accepted = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    for (; std::chrono::steady_clock::now() < end; ++files) {
        const std::string text = random_file(rng);
        const std::vector<char> exact(text.begin(), text.end());  // no byte behind the end
        char message[128];
        Text error(message);
        const bool good = parse_layout(exact.data(), exact.size(), "fuzz", layout.get(), &error);
        accepted += good ? 1 : 0;
        if (good ? !rules_hold(*layout) : error.length() == 0) {
            printf("seed %llu, file %llu breaks a rule:\n%s\n", static_cast<unsigned long long>(seed),
                   static_cast<unsigned long long>(files), text.c_str());
            return 1;
        }
    }
    printf("seed %llu: %llu files, %llu accepted\n", static_cast<unsigned long long>(seed), static_cast<unsigned long long>(files),
           static_cast<unsigned long long>(accepted));
    return accepted == 0 || accepted == files;  // a fuzzer must see both accepted and rejected inputs
}
