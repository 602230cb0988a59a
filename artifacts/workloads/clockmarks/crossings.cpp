// crossings.cpp - accesses of 8 bytes inside a line, across two lines of a page, and across two pages: loads that depend on each other,
// loads that do not, and stores.
//
// Each page has one access, near its end, so the three places differ in nothing else. 4 pages stay in every TLB and in L1D. 8192 pages
// are more than a TLB has, and are visited in random order.
#include <cstring>

#include "clockmarks/mark.h"
#include "pointer_chase.h"

namespace tessera::workloads {
namespace {

constexpr uint64_t kPage = 4096, kNear = 4, kFar = 8192, kFarBits = 13, kSteps = 1 << 16;
static_assert(kFar == 1 << kFarBits && kSteps % kFar == 0);

/// Where in its page an access begins.
constexpr uint64_t kOneLine = kPage - 64, kTwoLines = kPage - 64 - 4, kTwoPages = kPage - 4;

/// The last access ends in one page more.
constexpr uint64_t bytes_of(uint64_t pages) { return (pages + 1) * kPage; }

uint64_t word_at(const char* place) {
    uint64_t word;
    std::memcpy(&word, place, sizeof word);
    return word;
}
void put_word(char* place, uint64_t word) { std::memcpy(place, &word, sizeof word); }

template <uint64_t pages, uint64_t offset>
void link_pages(const Arena& arena) {
    const auto tour = tour_of(pages, Order::random, 1);
    const auto address = [&](uint64_t t) { return arena.base + tour[t % pages] * kPage + offset; };
    for (uint64_t t = 0; t < pages; ++t) put_word(address(t), reinterpret_cast<uint64_t>(address(t + 1)));
}

/// A whole number of tours, so that each round ends where it began.
template <uint64_t offset>
TESSERA_KERNEL uint64_t chase(const Arena& arena) {
    const char* at = arena.base + offset;
    for (uint64_t k = 0; k < kSteps; k += 8) __asm__ volatile(".rept 8\n movq (%0), %0\n .endr" : "+r"(at) : : "memory");
    return static_cast<uint64_t>(at - arena.base) - offset;
}

/// The page of step k, in an order without strides.
uint64_t far_page(uint64_t k) { return k * 0x9e3779b97f4a7c15u >> (64 - kFarBits); }

template <uint64_t pages, uint64_t offset>
void ones(const Arena& arena) {
    for (uint64_t page = 0; page < pages; ++page) put_word(arena.base + page * kPage + offset, 1);
}

/// Sums ones, so a round's answer is its number of loads.
template <uint64_t pages, uint64_t offset>
TESSERA_KERNEL uint64_t sum(const Arena& arena) {
    const char* const first = arena.base + offset;
    uint64_t a = 0, b = 0, c = 0, d = 0;
    if constexpr (pages == kNear)
        for (uint64_t k = 0; k < kSteps; k += kNear)
            __asm__ volatile("addq (%4), %0\n addq 4096(%4), %1\n addq 8192(%4), %2\n addq 12288(%4), %3"
                             : "+r"(a), "+r"(b), "+r"(c), "+r"(d)
                             : "r"(first)
                             : "cc", "memory");
    else
        for (uint64_t k = 0; k < kSteps; ++k)
            __asm__ volatile("addq (%1), %0" : "+r"(a) : "r"(first + far_page(k) * kPage) : "cc", "memory");
    return a + b + c + d;
}

/// Stores the number of the step. The answer is the last one.
template <uint64_t pages, uint64_t offset>
TESSERA_KERNEL uint64_t store(const Arena& arena) {
    char* const first = arena.base + offset;
    put_word(first + (pages == kNear ? 0 : far_page(kSteps - 1)) * kPage, 0);
    if constexpr (pages == kNear)
        for (uint64_t k = 0; k < kSteps; k += kNear)
            __asm__ volatile("movq %1, 4096(%0)\n movq %1, 8192(%0)\n movq %1, 12288(%0)\n movq %1, (%0)"
                             :
                             : "r"(first), "r"(k + kNear - 1)
                             : "memory");
    else
        for (uint64_t k = 0; k < kSteps; ++k) __asm__ volatile("movq %1, (%0)" : : "r"(first + far_page(k) * kPage), "r"(k) : "memory");
    return word_at(first + (pages == kNear ? 0 : far_page(kSteps - 1)) * kPage);
}

template <uint64_t pages, uint64_t offset>
Mark dependent(const char* name) {
    return {name, "load", kSteps, bytes_of(pages), link_pages<pages, offset>, chase<offset>, constant<0>};
}
template <uint64_t pages, uint64_t offset>
Mark independent(const char* name) {
    return {name, "load", kSteps, bytes_of(pages), ones<pages, offset>, sum<pages, offset>, constant<kSteps>};
}
template <uint64_t pages, uint64_t offset>
Mark stores(const char* name) {
    return {name, "store", kSteps, bytes_of(pages), no_preparation, store<pages, offset>, constant<kSteps - 1>};
}

}  // namespace

std::vector<Mark> crossing_marks() {
    return {
        dependent<kNear, kOneLine>("chain-line"),
        dependent<kNear, kTwoLines>("chain-two-lines"),
        dependent<kNear, kTwoPages>("chain-two-pages"),
        independent<kNear, kOneLine>("load-line"),
        independent<kNear, kTwoLines>("load-two-lines"),
        independent<kNear, kTwoPages>("load-two-pages"),
        stores<kNear, kOneLine>("store-line"),
        stores<kNear, kTwoLines>("store-two-lines"),
        stores<kNear, kTwoPages>("store-two-pages"),
        dependent<kFar, kOneLine>("walk-chain-line"),
        dependent<kFar, kTwoLines>("walk-chain-two-lines"),
        dependent<kFar, kTwoPages>("walk-chain-two-pages"),
        independent<kFar, kOneLine>("walk-load-line"),
        independent<kFar, kTwoLines>("walk-load-two-lines"),
        independent<kFar, kTwoPages>("walk-load-two-pages"),
        stores<kFar, kOneLine>("walk-store-line"),
        stores<kFar, kTwoLines>("walk-store-two-lines"),
        stores<kFar, kTwoPages>("walk-store-two-pages"),
    };
}

}  // namespace tessera::workloads
