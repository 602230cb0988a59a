// fuzz.h - common code of the fuzzers: a time limit, a printed seed, mutations, and a file in memory.
//
//   NAME [SECONDS [SEED]]
// Exit status 1 if a rule was broken (the input is kept in ./NAME.failed), or if all inputs were accepted or all rejected,
// because a fuzzer must see both. Sanitizers check memory accesses.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::fuzz {

using Random = std::mt19937_64;
using Clock = std::chrono::steady_clock;

/// Numbers at the borders of what fields can hold.
inline uint64_t border(Random& rng) {
    static constexpr uint64_t values[] = {0,
                                          1,
                                          2,
                                          63,
                                          64,
                                          111,
                                          112,
                                          113,
                                          127,
                                          128,
                                          255,
                                          4096,
                                          65535,
                                          65536,
                                          (1u << 20),
                                          (1u << 20) + 1,
                                          0x7fffffff,
                                          0xffffffff,
                                          uint64_t{1} << 32,
                                          uint64_t{1} << 47,
                                          uint64_t{1} << 48,
                                          INT64_MAX,
                                          uint64_t{1} << 63,
                                          UINT64_MAX - 111,
                                          UINT64_MAX};
    return values[rng() % std::size(values)] + (rng() % 8 == 0 ? rng() % 5 - 2 : 0);
}

/// Up to four edits: a byte, a word, a stretch cut, doubled or moved, a field of 2, 4 or 8 bytes.
inline void mutate(std::string& text, Random& rng, const std::vector<std::string_view>& words) {
    for (uint64_t edits = 1 + rng() % 4; edits > 0; --edits) {
        const size_t at = rng() % (text.size() + 1), length = 1 + rng() % 40, bytes = size_t{1} << (1 + rng() % 3);
        const uint64_t value = border(rng);
        switch (rng() % 6) {
            case 0:
                if (at < text.size()) text[at] = static_cast<char>(rng());
                break;
            case 1:
                if (!words.empty()) text.insert(at, words[rng() % words.size()]);
                break;
            case 2: text.erase(at, length); break;
            case 3: text.insert(at, text.substr(at, length)); break;
            case 4: text.insert(at, text.substr(rng() % (text.size() + 1), length)); break;
            default:
                if (at + bytes <= text.size()) std::memcpy(&text[at], &value, bytes);
        }
    }
}

class Run {
public:
    Run(const char* name, int count, char** arguments)
        : name_(name),
          seed_(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : std::random_device{}()),
          rng(seed_),
          end_(Clock::now() +
               std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(count > 1 ? std::atof(arguments[1]) : 3))) {}

    bool more() { return Clock::now() < end_ && (started_ = Clock::now(), ++tried, true); }

    /// Runs one input. An error message must contain a remedy, and no input may take longer than five seconds.
    void refused(const std::string& input, const std::string& message) {
        ++refusals;
        if (message.find("\n  what to do: ") == std::string::npos) broken(input, "an error message has a remedy: " + message);
        in_time(input);
    }
    void accepted(const std::string& input, const char* broken_rule) {
        if (broken_rule != nullptr) broken(input, broken_rule);
        in_time(input);
    }
    [[noreturn]] void broken(const std::string& input, const std::string& rule) {
        const std::string path = std::string(name_) + ".failed";
        if (FILE* kept = std::fopen(path.c_str(), "wb")) std::fwrite(input.data(), 1, input.size(), kept), std::fclose(kept);
        std::printf("%s: seed %llu, input %llu (in ./%s): %s\n", name_, static_cast<unsigned long long>(seed_),
                    static_cast<unsigned long long>(tried), path.c_str(), rule.c_str());
        std::exit(1);
    }
    int finish() const {
        std::printf("%s: seed %llu: %llu inputs, %llu refused\n", name_, static_cast<unsigned long long>(seed_),
                    static_cast<unsigned long long>(tried), static_cast<unsigned long long>(refusals));
        return refusals == 0 || refusals == tried;
    }

private:
    void in_time(const std::string& input) {
        if (Clock::now() - started_ > std::chrono::seconds(5)) broken(input, "an input takes at most 5 seconds");
    }
    const char* name_;
    uint64_t seed_;

public:
    Random rng;
    uint64_t tried = 0, refusals = 0;

private:
    Clock::time_point end_, started_;
};

/// What most fuzzers do: `use` reads each text that `make` gives, and returns a broken rule or null. It may refuse a text by a `Refused`,
/// and throw nothing else.
template <class Refused, class Make, class Use>
int run_reader(const char* name, int count, char** arguments, Make make, Use use) {
    Run run(name, count, arguments);
    while (run.more()) {
        const std::string text = make(run.rng);
        try {
            run.accepted(text, use(text, run.rng));
        } catch (const Refused& refusal) {
            run.refused(text, refusal.what());
        } catch (const std::exception& error) {
            run.broken(text, std::string("only refusals come out of a reader: ") + error.what());
        }
    }
    return run.finish();
}

/// A file whose content is replaced for each input.
class MemoryFile {
public:
    MemoryFile() : fd_(memfd_create("fuzz", 0)), path_("/proc/self/fd/" + std::to_string(fd_)) {}
    ~MemoryFile() { close(fd_); }
    const std::string& path() const { return path_; }
    void write(const std::string& bytes) {
        const bool done = ftruncate(fd_, 0) == 0 && pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
        if (!done) std::perror("memfd"), std::exit(2);
    }

private:
    int fd_;
    std::string path_;
};

}  // namespace tessera::fuzz
