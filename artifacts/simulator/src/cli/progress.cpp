#include "cli/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <optional>

namespace tessera::sim {
namespace {

/// Work a second, once there is enough of it to tell.
std::optional<double> rate_of(uint64_t done, double seconds) {
    if (seconds < 1 || done == 0) return std::nullopt;
    return double(done) / seconds;
}

}  // namespace

Progress::Progress(uint64_t total) : total_(total), terminal_(isatty(2) != 0), begin_(Clock::now()), printed_(begin_) {}

std::string Progress::line(uint64_t done, uint64_t total, double seconds) {
    std::string text = "progress " + std::to_string(done) + " " + std::to_string(total);
    const auto rate = rate_of(done, seconds);
    if (!rate) return text + " - -";
    return text + " " + std::to_string(std::llround(*rate)) + " " + std::to_string(std::llround(std::ceil(double(total - done) / *rate)));
}

std::string Progress::sentence(uint64_t done, uint64_t total, double seconds) {
    char text[120];
    std::snprintf(text, sizeof text, "%3.0f%%", total == 0 ? 100.0 : 100.0 * double(done) / double(total));
    const auto rate = rate_of(done, seconds);
    if (!rate) return text;
    char tail[100];
    std::snprintf(tail, sizeof tail, "  %.1f M accesses x layouts/s, %.0f s left", *rate / 1e6, std::ceil(double(total - done) / *rate));
    return std::string(text) + tail;
}

void Progress::add(uint64_t work) {
    const std::lock_guard lock(mutex_);
    done_ += work;
    const auto now = Clock::now();
    if (now - printed_ < std::chrono::milliseconds(500)) return;
    print(now);
}

void Progress::finish() {
    const std::lock_guard lock(mutex_);
    print(Clock::now());
    if (terminal_) std::fputc('\n', stderr);
}

void Progress::print(Clock::time_point now) {
    printed_ = now;
    const double seconds = std::chrono::duration<double>(now - begin_).count();
    if (terminal_) std::fprintf(stderr, "\r%-70s", sentence(done_, total_, seconds).c_str());
    else std::fprintf(stderr, "%s\n", line(done_, total_, seconds).c_str());
    std::fflush(stderr);
}

}  // namespace tessera::sim
