// crew.h - runs passes on threads, and gives out rows in the order of the list.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sim {

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

/// Calls work(worker, pass) for each pass in 0..passes-1, in this order, on `workers` threads (one: this one).
/// An exception stops the handing out; `failed` becomes true at once for those that still work; when all have ended, the first
/// exception is thrown again (Stopped gives way to any other).
class Crew {
public:
    bool failed() const;
    void run(size_t passes, size_t workers, const std::function<void(size_t, size_t)>& work);

private:
    mutable std::mutex mutex_;
    size_t next_ = 0;
    bool failed_ = false, cause_known_ = false;
    std::exception_ptr failure_;
};

}  // namespace tessera::sim
