// later.h - system calls that can block, made after the lock is released.
//
// msync waits for a disk, mlock and MADV_POPULATE_* for a userfaultfd handler of the program's own. With the lock held, all
// other threads would wait too, the handler among them. So the tables are changed under the lock, and the call follows. If
// another thread unmaps the memory meanwhile, the result is as undefined as without the library.
#pragma once

#include "core/base.h"
#include "core/sys.h"

namespace mosalloc {

class Later {
public:
    /// Makes the call `number`(start, bytes, argument) in `run`. Returns 0, or an error of a call that was made already
    /// because there are too many of them.
    long add(long number, Range addresses, long argument) {
        if (count_ == kMost) {
            const long result = run();
            if (sys::failed(result)) return result;
        }
        calls_[count_++] = {number, addresses, argument};
        return 0;
    }
    /// As add, but an error of the call is no error.
    void add_hint(long number, Range addresses, long argument) {
        add(number, addresses, argument);
        calls_[count_ - 1].number = -number;
    }
    /// Makes the calls in their order. Returns 0 or the first error; no call follows an error.
    long run() {
        const size_t count = count_;
        count_ = 0;
        for (size_t i = 0; i < count; ++i) {
            const bool hint = calls_[i].number < 0;
            const Range at = calls_[i].addresses;
            const long result = sys::call(hint ? -calls_[i].number : calls_[i].number, static_cast<long>(at.start),
                                          static_cast<long>(at.bytes()), calls_[i].argument);
            if (sys::failed(result) && !hint) return result;
        }
        return 0;
    }

private:
    struct Call {
        long number;  ///< negative: a hint
        Range addresses;
        long argument;
    };
    static constexpr size_t kMost = 16;
    Call calls_[kMost];
    size_t count_ = 0;
};

}  // namespace mosalloc
