// groups.h - layouts in groups, groups on threads, rows in the order of the list.
//
// A group is simulated in one pass over the trace. Engines promise that a layout's counts depend on nothing but stream,
// platform, layout and plan, so neither the groups nor the threads can be seen in the result.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sim {

/// How a run's layouts are cut and who works on them.
struct Division {
    size_t group;        ///< layouts of one group, at most
    size_t workers;      ///< threads that simulate
    size_t read_ahead;   ///< of them, how many have a second thread that decodes their next frame
};

/// pre: threads > 0. `group` 0: chosen here. An engine with a clock works in proportion to layouts, so groups are split (at
/// multiples of 16, the clock's lanes) until each thread has one. One without takes hardly longer for 55 layouts than for 16
/// (37 and 38 s of CPU time on gups), so its groups are as wide as it can; a thread to spare decodes ahead.
Division divide(size_t layouts, size_t threads, size_t group, size_t most_layouts, bool has_clock);

/// Texts by place in the list, given out strictly in that order, each as soon as it and all before it are known.
class InOrder {
public:
    InOrder(size_t count, std::function<void(const std::string&)> emit) : texts_(count), emit_(std::move(emit)) {}
    /// May be called from several threads.
    void put(size_t place, std::string text);
    /// What is known but waits for an earlier place that will never come.
    void flush();

private:
    std::mutex mutex_;
    std::vector<std::optional<std::string>> texts_;
    size_t next_ = 0;
    std::function<void(const std::string&)> emit_;
};

/// Calls work(worker, group) for each group in 0..groups-1, in this order, on `workers` threads (one: this one).
/// An exception stops the handing out; `failed` becomes true at once for those that still work; when all have ended, the first
/// exception is thrown again (Stopped gives way to any other).
class Crew {
public:
    bool failed() const;
    void run(size_t groups, size_t workers, const std::function<void(size_t, size_t)>& work);

private:
    mutable std::mutex mutex_;
    size_t next_ = 0;
    bool failed_ = false, cause_known_ = false;
    std::exception_ptr failure_;
};

}  // namespace tessera::sim
