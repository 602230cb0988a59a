#include "cli/groups.h"

#include <algorithm>
#include <thread>

#include "cli/interrupt.h"

namespace tessera::sim {
namespace {

constexpr size_t clock_lanes = 16, widest_pass = 64;

size_t quotient_up(size_t value, size_t unit) { return (value + unit - 1) / unit; }

}  // namespace

Division divide(size_t layouts, size_t threads, size_t group, size_t most_layouts, bool has_clock) {
    const size_t widest = std::min(most_layouts, widest_pass);
    layouts = std::max<size_t>(layouts, 1);
    if (group == 0) group = has_clock ? std::min(widest, quotient_up(quotient_up(layouts, threads), clock_lanes) * clock_lanes) : widest;
    group = std::min(group, most_layouts);
    const size_t workers = std::min(threads, quotient_up(layouts, group));
    return {group, workers, std::min(threads - workers, workers)};
}

void InOrder::put(size_t place, std::string text) {
    const std::lock_guard lock(mutex_);
    texts_[place] = std::move(text);
    while (next_ < texts_.size() && texts_[next_]) emit_(*texts_[next_++]);
}

void InOrder::flush() {
    const std::lock_guard lock(mutex_);
    for (; next_ < texts_.size(); ++next_)
        if (texts_[next_]) emit_(*texts_[next_]);
}

bool Crew::failed() const {
    const std::lock_guard lock(mutex_);
    return failed_;
}

void Crew::run(size_t groups, size_t workers, const std::function<void(size_t, size_t)>& work) {
    const auto member = [&](size_t worker) {
        while (true) {
            size_t group;
            {
                const std::lock_guard lock(mutex_);
                if (failed_ || next_ == groups) return;
                group = next_++;
            }
            try {
                work(worker, group);
            } catch (const Stopped&) {
                const std::lock_guard lock(mutex_);
                if (!failure_) failure_ = std::current_exception();
                failed_ = true;
            } catch (...) {
                const std::lock_guard lock(mutex_);
                const bool first = !cause_known_;
                if (first) failure_ = std::current_exception(), cause_known_ = true;
                failed_ = true;
            }
        }
    };
    std::vector<std::thread> others;
    for (size_t worker = 1; worker < workers; ++worker) others.emplace_back(member, worker);
    member(0);
    for (std::thread& thread : others) thread.join();
    if (failure_) std::rethrow_exception(failure_);
}

}  // namespace tessera::sim
