// descriptor.h - a file descriptor that closes itself, and whole reads and writes at a position.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>
#include <utility>

namespace tessera::workloads {

class Descriptor {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    ~Descriptor();

    bool open() const { return number_ >= 0; }
    int number() const { return number_; }

    /// Reads until `bytes` are there or the file ends; returns how many. Negative: errno says why.
    int64_t read_at(void* to, uint64_t bytes, uint64_t offset) const;
    /// False: errno says why.
    bool write_at(const void* from, uint64_t bytes, uint64_t offset) const;

private:
    int number_;
};

}  // namespace tessera::workloads
