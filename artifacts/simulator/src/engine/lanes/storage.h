// storage.h - replacements for the C++ library in vector code: a zeroed, aligned, growing array, and set indices for
// any number of sets.
#pragma once

#include <cstdlib>
#include <cstring>

#include "engine/lanes/inline.h"

namespace tessera::sim::lanes::TESSERA_ISA {

/// Zeroed memory, 64-byte aligned. T is trivially copyable. 64 readable bytes lie before the first element.
template <class T>
class Array {
public:
    Array() = default;
    explicit Array(size_t count) { grow(count); }
    Array(const Array&) = delete;
    Array& operator=(const Array&) = delete;
    ~Array() { std::free(memory_); }

    T* data() { return items_; }
    const T* data() const { return items_; }
    T& operator[](size_t i) { return items_[i]; }
    const T& operator[](size_t i) const { return items_[i]; }
    size_t size() const { return size_; }

    void zero() {
        if (items_ != nullptr) std::memset(static_cast<void*>(items_), 0, size_ * sizeof(T));
    }

    void swap(Array& other) {
        char* const memory = memory_;
        T* const items = items_;
        const size_t size = size_;
        memory_ = other.memory_, items_ = other.items_, size_ = other.size_;
        other.memory_ = memory, other.items_ = items, other.size_ = size;
    }
    void clear() {
        std::free(memory_);
        memory_ = nullptr;
        items_ = nullptr;
        size_ = 0;
    }

    /// Keeps the contents, zeroes the new part.
    void grow(size_t count) {
        if (count <= size_) return;
        const size_t bytes = (count * sizeof(T) + 64 + 63) / 64 * 64 + 64;
        char* memory = static_cast<char*>(std::aligned_alloc(64, bytes));
        if (memory == nullptr) out_of_memory();
        std::memset(memory, 0, bytes);
        if (items_ != nullptr) std::memcpy(memory + 64, static_cast<const void*>(items_), size_ * sizeof(T));
        std::free(memory_);
        memory_ = memory;
        items_ = reinterpret_cast<T*>(memory + 64);
        size_ = count;
    }

private:
    char* memory_ = nullptr;
    T* items_ = nullptr;
    size_t size_ = 0;
};

/// number mod sets, for any number of sets: by a mask or by multiplication, whose quotient is at most one too large.
class SetIndex {
public:
    SetIndex() = default;
    explicit SetIndex(uint64_t sets) : sets_(sets), mask_(sets - 1) {
        if (sets != 0 && (sets & (sets - 1)) != 0) reciprocal_ = ~uint64_t{0} / sets + 1;
    }
    LANES_INLINE_MEMBER uint32_t operator()(uint64_t number) const {
        if (reciprocal_ == 0) return uint32_t(number & mask_);
        const uint64_t quotient = uint64_t((static_cast<unsigned __int128>(number) * reciprocal_) >> 64);
        const uint64_t rest = number - quotient * sets_;
        return uint32_t(rest >= sets_ ? rest + sets_ : rest);
    }
    uint64_t sets() const { return sets_; }
    bool is_power_of_two() const { return reciprocal_ == 0; }
    /// The index by a mask. pre: is_power_of_two().
    uint64_t mask() const { return mask_; }

private:
    uint64_t sets_ = 0, mask_ = 0, reciprocal_ = 0;
};

}  // namespace tessera::sim::lanes::TESSERA_ISA
