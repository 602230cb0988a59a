#include "cli/crew.h"

#include <thread>

#include "cli/interrupt.h"

namespace tessera::sim {

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

void Crew::run(size_t passes, size_t workers, const std::function<void(size_t, size_t)>& work) {
    const auto member = [&](size_t worker) {
        while (true) {
            size_t pass;
            {
                const std::lock_guard lock(mutex_);
                if (failed_ || next_ == passes) return;
                pass = next_++;
            }
            try {
                work(worker, pass);
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
