// random.h - splitmix64: the same numbers everywhere, no state shared between threads.
#pragma once

#include <cstddef>
#include <cstdint>

namespace differential {

struct Random {
    uint64_t state = 0;
    uint64_t next() {
        uint64_t z = (state += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    /// 0 .. limit-1
    unsigned below(unsigned limit) { return static_cast<unsigned>((next() >> 32) * limit >> 32); }
    bool one_in(unsigned n) { return below(n) == 0; }
    template <class T, size_t N>
    T of(const T (&choices)[N]) {
        return choices[below(N)];
    }
};

}  // namespace differential
