/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts of instructions, for a guest whose processors take turns.
 *
 * Under QEMU's -icount the time-stamp counter advances by one at each instruction of any processor, so the difference
 * of two readings is a count. While the processor waits, the counter goes on as if it executed instructions.
 */
#ifndef TESSERA_INSTRUCTIONS_H
#define TESSERA_INSTRUCTIONS_H

static inline unsigned long now(void)
{
	unsigned int low, high;

	__asm__ volatile("lfence; rdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (unsigned long)high << 32 | low;
}

/*
 * Marks for a plugin of QEMU that counts loads and stores (artifacts/kernel-stream/plugin/references.c): NOPs with an
 * address that says REFB or REFE.
 */
#define REFERENCES_BEGIN() __asm__ volatile(".byte 0x0f,0x1f,0x80,0x52,0x45,0x46,0x42" : : : "memory")
#define REFERENCES_END() __asm__ volatile(".byte 0x0f,0x1f,0x80,0x52,0x45,0x46,0x45" : : : "memory")

/* Two instructions a round. */
static inline void count_down(unsigned long rounds)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds));
}

/* The count of 200,000 instructions: the best of 20, because the timer's interrupts count too. */
static inline unsigned long calibrate(void)
{
	unsigned long best = -1UL;

	for (int i = 0; i < 20; i++) {
		unsigned long start = now(), counted;

		count_down(100000);
		counted = now() - start;
		best = counted < best ? counted : best;
	}
	return best;
}

#endif
