/* Both markers keep all registers, the flags and the red zone. Status 0, or the number of what has changed. */
#include <stdint.h>

#define MARKER(last) ".byte 0x0f,0x1f,0x80,0x54,0x53,0x52," last "\n\t"

/* Fills registers, the red zone and vector registers with `seed` + n, passes a marker, and subtracts the same again. */
#define CHECK(last)                                                                                                       \
    static int check_##last(uint64_t seed) {                                                                              \
        uint64_t wrong;                                                                                                   \
        __asm__ volatile(                                                                                                 \
            "mov %%rsp, %%r15\n\t"                                                                                        \
            "and $-4096, %%rsp\n\t sub $8, %%rsp\n\t" /* an odd alignment */                                              \
            "movq %1, %%xmm0\n\t movq %1, %%xmm15\n\t"                                                                    \
            "mov %1, -8(%%rsp)\n\t mov %1, -128(%%rsp)\n\t"                                                               \
            "lea 1(%1), %%rax\n\t lea 2(%1), %%rcx\n\t lea 3(%1), %%rdx\n\t lea 4(%1), %%rsi\n\t lea 5(%1), %%rdi\n\t"    \
            "lea 6(%1), %%r8\n\t lea 7(%1), %%r9\n\t lea 8(%1), %%r10\n\t lea 9(%1), %%r11\n\t lea 10(%1), %%r12\n\t"     \
            "lea 11(%1), %%r13\n\t"                                                                                       \
            "stc\n\t"                                                                                                     \
            MARKER(#last)                                                                                                 \
            "setnc %b0\n\t movzbl %b0, %k0\n\t"                                                                           \
            "sub $1, %%rax\n\t sub $2, %%rcx\n\t sub $3, %%rdx\n\t sub $4, %%rsi\n\t sub $5, %%rdi\n\t"                   \
            "sub $6, %%r8\n\t sub $7, %%r9\n\t sub $8, %%r10\n\t sub $9, %%r11\n\t sub $10, %%r12\n\t sub $11, %%r13\n\t" \
            "xor %1, %%rax\n\t xor %1, %%rcx\n\t xor %1, %%rdx\n\t xor %1, %%rsi\n\t xor %1, %%rdi\n\t"                   \
            "xor %1, %%r8\n\t xor %1, %%r9\n\t xor %1, %%r10\n\t xor %1, %%r11\n\t xor %1, %%r12\n\t xor %1, %%r13\n\t"   \
            "or %%rax, %0\n\t or %%rcx, %0\n\t or %%rdx, %0\n\t or %%rsi, %0\n\t or %%rdi, %0\n\t"                        \
            "or %%r8, %0\n\t or %%r9, %0\n\t or %%r10, %0\n\t or %%r11, %0\n\t or %%r12, %0\n\t or %%r13, %0\n\t"         \
            "movq %%xmm0, %%rax\n\t xor %1, %%rax\n\t or %%rax, %0\n\t"                                                   \
            "movq %%xmm15, %%rax\n\t xor %1, %%rax\n\t or %%rax, %0\n\t"                                                  \
            "xor -8(%%rsp), %1\n\t or %1, %0\n\t xor -8(%%rsp), %1\n\t"                                                   \
            "xor -128(%%rsp), %1\n\t or %1, %0\n\t"                                                                       \
            "mov %%r15, %%rsp"                                                                                            \
            : "=&r"(wrong), "+r"(seed)                                                                                    \
            :                                                                                                             \
            : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r15", "xmm0", "xmm15", "cc",    \
              "memory");                                                                                                  \
        return wrong != 0;                                                                                                \
    }

CHECK(0x42)
CHECK(0x45)

int main(void) {
    for (uint64_t seed = 0x0123456789abcdef, i = 0; i < 1000; ++i, seed = seed * 6364136223846793005u + 1) {
        if (check_0x42(seed)) return 1;
        if (check_0x45(seed)) return 2;
    }
    return 0;
}
