// verifier_array.h - an array that only a verifier uses, behind the region of interest.
//
// It asks for transparent huge pages: verifiers touch random places of gigabytes, and with 4KB pages they take twice as
// long. A hint; libmosalloc's pools do not follow it, and no result depends on it.
// It maps 16 bytes more than it has elements: QEMU 7.2 reads 16 bytes for the scalar memory operand of a fused
// multiply-add, and dies at the end of a mapping.
#pragma once

#include <sys/mman.h>

#include "common/anonymous_array.h"

namespace tessera::workloads {

template <class T>
class VerifierArray {
public:
    VerifierArray(const char* name, uint64_t elements) : array_(name, elements + 16 / sizeof(T) + 1), elements_(elements) {
        madvise(array_.data(), array_.bytes(), MADV_HUGEPAGE);
    }

    T& operator[](uint64_t i) { return array_[i]; }
    const T& operator[](uint64_t i) const { return array_[i]; }
    uint64_t size() const { return elements_; }
    void fill(const T& value) { array_.fill(value); }

private:
    AnonymousArray<T> array_;
    uint64_t elements_;
};

}  // namespace tessera::workloads
