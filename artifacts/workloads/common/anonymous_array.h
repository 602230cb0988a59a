// anonymous_array.h - an array in its own anonymous mapping.
//
// The workloads ask the kernel for their large arrays themselves (as Graph500's reference code does, and
// as malloc does for requests of this size), so each array is one request to libmosalloc's anonymous pool
// and keeps its offset there under every layout. A fresh mapping is zeroed but has no pages yet:
// `prefault` touches each one, so that page faults stay outside the region of interest.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "common/error.h"

namespace tessera::workloads {

/// Whether the kernel counts the whole array against its limit of memory, or only what is written.
enum class Commit { whole, written };

template <class T>
class AnonymousArray {
public:
    AnonymousArray(const char* name, uint64_t elements, Commit commit = Commit::whole) : elements_(elements) {
        if (elements == 0 || elements > SIZE_MAX / sizeof(T))
            throw Error(std::string("array '") + name + "'", "cannot map " + std::to_string(elements) + " elements", "choose another size");
        const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (commit == Commit::written ? MAP_NORESERVE : 0);
        void* start = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, flags, -1, 0);
        if (start == MAP_FAILED)
            throw Error(std::string("array '") + name + "' of " + std::to_string(bytes()) + " bytes",
                        std::string("mmap failed: ") + std::strerror(errno), "choose a smaller size, or a larger anonymous pool");
        data_ = static_cast<T*>(start);
    }

    AnonymousArray(AnonymousArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), elements_(other.elements_) {}
    AnonymousArray(const AnonymousArray&) = delete;
    AnonymousArray& operator=(const AnonymousArray&) = delete;
    AnonymousArray& operator=(AnonymousArray&&) = delete;
    ~AnonymousArray() {
        if (data_ != nullptr) munmap(data_, bytes());
    }

    void swap(AnonymousArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(elements_, other.elements_);
    }

    T* data() { return data_; }
    const T* data() const { return data_; }
    T& operator[](uint64_t i) { return data_[i]; }
    const T& operator[](uint64_t i) const { return data_[i]; }
    uint64_t size() const { return elements_; }
    uint64_t bytes() const { return elements_ * sizeof(T); }

    /// Gives every page a frame without changing the contents.
    void prefault() {
        constexpr uint64_t kPageBytes = 4096;
        auto* bytes_of_array = reinterpret_cast<volatile unsigned char*>(data_);
        for (uint64_t offset = 0; offset < bytes(); offset += kPageBytes) bytes_of_array[offset] = bytes_of_array[offset];
    }

    void fill(const T& value) {
        for (uint64_t i = 0; i < elements_; ++i) data_[i] = value;
    }

private:
    T* data_ = nullptr;
    uint64_t elements_;
};

}  // namespace tessera::workloads
