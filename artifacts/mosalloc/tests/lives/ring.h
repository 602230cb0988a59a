// ring.h - an io_uring with one registered buffer, by raw system calls.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lives {

class Ring {
public:
    /// False if the system has none, or does not allow it.
    bool open();
    /// Pins the pages of the buffer until close().
    long pin(char* at, size_t bytes);
    /// Reads into a part of the buffer and waits. Bytes, or -errno. A read that the kernel cancels is asked for again:
    /// where the page cache cannot answer at once, the kernel starts a worker, and a signal then cancels the read.
    long read_fixed(int file, char* at, size_t bytes, uint64_t offset);
    void close();
    /// In a forked child: the ring is the parent's.
    void forget() { fd_ = -1; }
    bool is_open() const { return fd_ >= 0; }

private:
    long read_once(int file, char* at, size_t bytes, uint64_t offset);

    int fd_ = -1;
    char* rings_ = nullptr;
    char* entries_ = nullptr;
    size_t rings_bytes_ = 0, entries_bytes_ = 0;
    uint32_t *submit_tail_ = nullptr, *submit_mask_ = nullptr, *submit_array_ = nullptr;
    uint32_t *done_head_ = nullptr, *done_tail_ = nullptr, *done_mask_ = nullptr;
    char* done_ = nullptr;
};

}  // namespace lives
