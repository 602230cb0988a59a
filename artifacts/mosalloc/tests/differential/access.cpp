#include "access.h"

#include <csetjmp>
#include <csignal>
#include <cstring>

namespace differential {
namespace {

constexpr unsigned kWords = 16, kStep = 264;  // 15 * 264 + 8 < 4096; no two words in one cache line

thread_local sigjmp_buf* t_back = nullptr;

void on_fault(int signal) {
    if (t_back == nullptr) {
        std::signal(signal, SIG_DFL);
        raise(signal);
        return;
    }
    siglongjmp(*t_back, signal);
}

/// Runs f; the signal that it ended in, or 0. The mask is not saved (two system calls): the handler blocks nothing.
template <class F>
int guarded(F f) {
    sigjmp_buf back;
    const int signal = sigsetjmp(back, 0);
    if (signal == 0) {
        t_back = &back;
        __asm__ volatile("" ::: "memory");
        f();
        __asm__ volatile("" ::: "memory");
    }
    t_back = nullptr;
    return signal;
}

uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0x9fb21c651e98df25u;
    return hash ^ (hash >> 32);
}

}  // namespace

void catch_faults() {
    struct sigaction action = {};
    action.sa_handler = on_fault;
    action.sa_flags = SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

int try_read(const char* at) {
    return guarded([=] { (void)*const_cast<volatile const char*>(at); });
}

int try_write(char* at) {
    return guarded([=] { *const_cast<volatile char*>(at) = *const_cast<volatile char*>(at); });
}

uint64_t read_page(const char* page) {
    volatile uint64_t hash = 0;
    const int signal = guarded([&] {
        uint64_t h = 0;
        for (unsigned i = 0; i < kWords; ++i) h = mix(h, *reinterpret_cast<const volatile uint64_t*>(page + i * kStep));
        hash = h | 1u << 7;
    });
    return signal == 0 ? hash : 1 + static_cast<uint64_t>(signal);
}

uint64_t read_whole_page(const char* page) {
    volatile uint64_t hash = 0;
    const int signal = guarded([&] {
        uint64_t h = 0;
        for (size_t i = 0; i < kPage; i += 8) h = mix(h, *reinterpret_cast<const volatile uint64_t*>(page + i));
        hash = h | 1u << 7;
    });
    return signal == 0 ? hash : 1 + static_cast<uint64_t>(signal);
}

int write_page(char* page, uint64_t value, bool whole) {
    return guarded([=] {
        if (whole) memset(page, static_cast<int>(value & 0xff), kPage);
        *reinterpret_cast<volatile uint64_t*>(page + value % kWords * kStep) = value;
    });
}

}  // namespace differential
