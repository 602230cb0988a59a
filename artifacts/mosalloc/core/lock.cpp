#include "core/lock.h"

#include <linux/futex.h>
#include <signal.h>

#include "core/sys.h"

namespace mosalloc {
namespace {

// Per thread; initial-exec, since a TLS block that is allocated on demand would call malloc.
__attribute__((tls_model("initial-exec"))) thread_local int t_depth = 0;
__attribute__((tls_model("initial-exec"))) thread_local uint64_t t_signals = 0;

void futex(int* word, int operation, int value) {
    sys::call(SYS_futex, reinterpret_cast<long>(word), operation | FUTEX_PRIVATE_FLAG, value);
}

void set_signals(uint64_t mask, uint64_t* old) {
    sys::call(SYS_rt_sigprocmask, SIG_SETMASK, reinterpret_cast<long>(&mask), reinterpret_cast<long>(old), 8);
}

}  // namespace

bool Lock::is_mine() { return t_depth > 0; }

void Lock::acquire() {
    if (t_depth > 0) {
        ++t_depth;
        return;
    }
    uint64_t signals = 0;
    set_signals(~uint64_t{0}, &signals);
    int seen = 0;
    if (!__atomic_compare_exchange_n(&word_, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        while (__atomic_exchange_n(&word_, 2, __ATOMIC_ACQUIRE) != 0) {
            set_signals(signals, nullptr);  // a waiting thread can be killed
            futex(&word_, FUTEX_WAIT, 2);
            set_signals(~uint64_t{0}, nullptr);
        }
    }
    t_depth = 1;
    t_signals = signals;
}

void Lock::release() {
    if (--t_depth > 0) return;
    const uint64_t signals = t_signals;
    if (__atomic_exchange_n(&word_, 0, __ATOMIC_RELEASE) == 2) futex(&word_, FUTEX_WAKE, 1);
    set_signals(signals, nullptr);
}

}  // namespace mosalloc
