#include "core/lock.h"

#include <cerrno>
#include <linux/futex.h>
#include <signal.h>
#include <time.h>

#include "core/sys.h"
#include "core/text.h"

namespace mosalloc {
namespace {

constexpr uint32_t kWaiters = 1u << 31;

uint32_t my_number() { return static_cast<uint32_t>(sys::call(SYS_gettid)); }

void set_signals(uint64_t mask, uint64_t* old) {
    sys::call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), reinterpret_cast<long>(old), 8);
}

/// False only if the task is known to have ended. A task that was killed keeps its number until it is waited for.
bool is_alive(uint32_t task) {
    char path[64], text[512];
    Text(path).add("/proc/").number(task).add("/stat");
    const long fd = sys::open(path, O_RDONLY);
    if (sys::failed(fd)) return sys::call(SYS_tkill, task, 0) != -ESRCH;
    const long got = sys::read(fd, text, sizeof text);
    sys::close(fd);
    if (got == -ESRCH) return false;
    long at = got - 1;
    while (at >= 0 && text[at] != ')') --at;  // the name before it may hold anything
    if (at < 0 || at + 2 >= got) return true;
    const char state = text[at + 2];
    return state != 'Z' && state != 'X' && state != 'x';
}

}  // namespace

bool Lock::is_mine() const { return (__atomic_load_n(&word_, __ATOMIC_RELAXED) & ~kWaiters) == my_number(); }

/// Sleeps until the word changes or a second has passed. Then an owner that was killed in here loses the lock: nobody
/// would ever wake the others.
void Lock::wait(uint32_t seen) {
    const timespec second = {1, 0};
    const long result =
        sys::call(SYS_futex, reinterpret_cast<long>(&word_), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, seen, reinterpret_cast<long>(&second));
    if (result != -ETIMEDOUT || is_alive(seen & ~kWaiters)) return;
    if (__atomic_compare_exchange_n(&word_, &seen, 0, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) ++stolen_;
}

void Lock::acquire() {
    const uint32_t me = my_number();
    if ((__atomic_load_n(&word_, __ATOMIC_RELAXED) & ~kWaiters) == me) {
        ++depth_;
        return;
    }
    uint64_t signals = 0;
    set_signals(~uint64_t{0}, &signals);
    uint32_t seen = 0, mine = me;
    while (!__atomic_compare_exchange_n(&word_, &seen, mine, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        mine = me | kWaiters;  // after a wait there may be others
        const uint32_t waited = seen | kWaiters;
        const bool marked = seen == waited || __atomic_compare_exchange_n(&word_, &seen, waited, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
        if (marked) {
            set_signals(signals, nullptr);  // a waiting thread can be killed
            wait(waited);
            set_signals(~uint64_t{0}, nullptr);
        }
        seen = 0;
    }
    depth_ = 1;
    signals_ = signals;
}

void Lock::release() {
    if (--depth_ > 0) return;
    const uint64_t signals = signals_;
    const uint32_t was = __atomic_exchange_n(&word_, 0, __ATOMIC_RELEASE);
    if ((was & kWaiters) != 0) sys::call(SYS_futex, reinterpret_cast<long>(&word_), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
    set_signals(signals, nullptr);
}

void Lock::adopt() { word_ = my_number(); }

void Lock::reset() {
    word_ = 0;
    depth_ = 0;
}

}  // namespace mosalloc
