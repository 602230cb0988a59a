#include "hook/entry.h"

#include <cstring>

#include "hook/control.h"

// Called by a trampoline with the mark in edi. Saves what a call may change. The hook uses general registers only (see
// CMakeLists.txt), so vector registers keep their values. The stack is aligned as the ABI asks.
__asm__(R"(
    .text
    .globl tessera_roi_entry
    .hidden tessera_roi_entry
    .type tessera_roi_entry, @function
tessera_roi_entry:
    push %rax
    push %rcx
    push %rdx
    push %rsi
    push %r8
    push %r9
    push %r10
    push %r11
    push %rbp
    mov %rsp, %rbp
    and $-16, %rsp
    cld
    call tessera_roi_mark
    mov %rbp, %rsp
    pop %rbp
    pop %r11
    pop %r10
    pop %r9
    pop %r8
    pop %rsi
    pop %rdx
    pop %rcx
    pop %rax
    ret
    .size tessera_roi_entry, . - tessera_roi_entry
)");

extern "C" __attribute__((visibility("hidden"))) void tessera_roi_entry();
extern "C" __attribute__((visibility("hidden"), used)) void tessera_roi_mark(uint32_t mark) {
    if (mark == tessera::counters::kBegin) tessera::counters::begin_region();
    else tessera::counters::end_region();
}

namespace tessera::counters {
namespace {

constexpr size_t kMarkerBytes = 7, kJumpBytes = 5;

/// The distance of a relative jump or operand, from the instruction's end.
void write_distance(unsigned char* field, uint64_t from, uint64_t to) {
    const int32_t distance = static_cast<int32_t>(static_cast<int64_t>(to - from));
    memcpy(field, &distance, sizeof distance);
}

}  // namespace

void write_trampoline(unsigned char* trampoline, uint64_t marker, Mark mark) {
    // The first bytes are those of the program's stack pointer down: 128 bytes below it belong to the program.
    static constexpr unsigned char kCode[] = {
        0x48, 0x8d, 0x64, 0x24, 0x80,                    //  0: lea -128(%rsp), %rsp
        0x9c,                                            //  5: pushfq
        0x57,                                            //  6: push %rdi
        0xbf, 0,    0,    0,    0,                                //  7: mov $mark, %edi
        0xff, 0x15, 0x0f, 0,    0,    0,                       // 12: call *15(%rip), the address at 33
        0x5f,                                            // 18: pop %rdi
        0x9d,                                            // 19: popfq
        0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0,           // 20: lea 128(%rsp), %rsp
        0xe9, 0,    0,    0,    0,                                // 28: jmp behind the marker
    };                                                   // 33: address of tessera_roi_entry
    constexpr size_t kMark = 8, kJump = 29, kAddress = sizeof kCode;
    static_assert(kAddress == 33 && kAddress + sizeof(void*) <= kTrampolineBytes, "the trampoline's distances");
    memcpy(trampoline, kCode, sizeof kCode);
    memcpy(trampoline + kMark, &mark, sizeof mark);
    write_distance(trampoline + kJump, reinterpret_cast<uint64_t>(trampoline) + kAddress, marker + kMarkerBytes);
    const auto entry = reinterpret_cast<uint64_t>(&tessera_roi_entry);
    memcpy(trampoline + kAddress, &entry, sizeof entry);
}

void write_jump(unsigned char* marker, uint64_t trampoline) {
    marker[0] = 0xe9;
    write_distance(marker + 1, reinterpret_cast<uint64_t>(marker) + kJumpBytes, trampoline);
    marker[5] = 0x66;  // never executed; a NOP of two bytes for disassemblers
    marker[6] = 0x90;
}

}  // namespace tessera::counters
