// groups.h - divides layouts into groups, runs groups on threads, and outputs rows in the order of the list.
//
// A group is simulated in one pass over the trace. An engine's counts for a layout depend only on stream, platform, layout
// and plan, so groups and threads do not change the result.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sim {

/// The division of a run's layouts into groups and threads.
struct Division {
    size_t group;        ///< layouts of one group, at most
    size_t workers;      ///< threads that simulate
    size_t read_ahead;   ///< of them, how many have a second thread that decodes their next frame
};

/// pre: threads > 0. `group` 0: chosen here. The time of an engine with a clock is proportional to the layouts, so groups are
/// split (at multiples of 16, the clock's lanes) until each thread has one. An engine without a clock takes about the same
/// time for 16 and 55 layouts (37 and 38 s of CPU time on gups), so its groups are as large as possible; a spare thread
/// decodes ahead.
Division divide(size_t layouts, size_t threads, size_t group, size_t most_layouts, bool has_clock);

/// Texts by place in the list, given out strictly in that order, each as soon as it and all before it are known.
class InOrder {
public:
    InOrder(size_t count, std::function<void(const std::string&)> emit) : texts_(count), emit_(std::move(emit)) {}
    /// May be called from several threads.
    void put(size_t place, std::string text);
    /// The texts that wait for an earlier place that will never arrive.
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
