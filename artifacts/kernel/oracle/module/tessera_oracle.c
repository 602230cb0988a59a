// SPDX-License-Identifier: GPL-2.0-only
/*
 * tessera_oracle: runs a file of allocations and frees, with nothing between them.
 *
 *   insmod tessera_oracle.ko events=/run/events block=256
 *
 * Interrupts are off from the first event to the last one. With one processor, nothing else allocates: the free lists change by
 * these events only. Before each block of events and after the last one, the module asks the host to read the guest's memory, on
 * the second serial port, without the port's driver: "@walk block-<index> results=<address> taken=<address>", answered by a line.
 * `results` is the virtual address of one 32-bit number for each event: the first frame of the block plus 1, or 0 if there is none.
 *
 * An event is 32 bits, in the machine's byte order:
 *   bit 31 set   free what event [30:0] got; nothing if it got nothing
 *   bit 31 clear allocate: order [3:0], type [5:4], highest zone [7:6], rights [11:8]
 * type: 0 unmovable, 1 movable, 2 reclaimable. Zone: 0 DMA, 1 DMA32, 2 Normal. Rights: enum right, below. Requests never wait
 * (no __GFP_DIRECT_RECLAIM), so that interrupts can stay off.
 *
 * The module stays loaded after the run, without a function; rmmod removes it. All blocks are free then.
 */
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/irqflags.h>
#include <linux/kernel_read_file.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/nmi.h>
#include <linux/serial_reg.h>
#include <linux/vmalloc.h>

#define PORT 0x2f8 /* the second serial port of a PC */
#define FREE 0x80000000u

enum right {
	RIGHT_NO_WAKE = 1,     /* without __GFP_KSWAPD_RECLAIM */
	RIGHT_USE_RESERVE = 2, /* __GFP_HIGH */
	RIGHT_NO_RESERVES = 4, /* __GFP_NOMEMALLOC */
};

static char *events = "";
module_param(events, charp, 0);
MODULE_PARM_DESC(events, "file of events");
static unsigned int block = 256;
module_param(block, uint, 0);
MODULE_PARM_DESC(block, "events between two looks of the host");

static void send(const char *text)
{
	for (; *text; text++) {
		while (!(inb(PORT + UART_LSR) & UART_LSR_THRE))
			cpu_relax();
		outb(*text, PORT + UART_TX);
	}
}

static void wait_for_line(void)
{
	do {
		while (!(inb(PORT + UART_LSR) & UART_LSR_DR))
			cpu_relax();
	} while (inb(PORT + UART_RX) != '\n');
}

static void look(unsigned int index, const u32 *results)
{
	char text[80];

	snprintf(text, sizeof(text), "@walk block-%u results=%lx\n", index, (unsigned long)results);
	send(text);
	wait_for_line();
}

static gfp_t flags_of(u32 event)
{
	static const gfp_t types[] = { 0, __GFP_MOVABLE, __GFP_RECLAIMABLE, 0 };
	static const gfp_t zones[] = { __GFP_DMA, __GFP_DMA32, 0, 0 };
	gfp_t flags = __GFP_NOWARN | types[event >> 4 & 3] | zones[event >> 6 & 3];

	if (!(event >> 8 & RIGHT_NO_WAKE))
		flags |= __GFP_KSWAPD_RECLAIM;
	if (event >> 8 & RIGHT_USE_RESERVE)
		flags |= __GFP_HIGH;
	if (event >> 8 & RIGHT_NO_RESERVES)
		flags |= __GFP_NOMEMALLOC;
	return flags;
}

static void run_event(const u32 *all, u32 *results, unsigned int index)
{
	u32 event = all[index];

	if (event & FREE) {
		unsigned int target = event & ~FREE;

		if (results[target])
			__free_pages(pfn_to_page(results[target] - 1), all[target] & 15);
	} else {
		struct page *page = alloc_pages(flags_of(event), event & 15);

		results[index] = page ? page_to_pfn(page) + 1 : 0;
	}
}

/* Frees what no event freed. */
static void clean(const u32 *all, u32 *results, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (all[i] & FREE)
			results[all[i] & ~FREE] = 0;
	for (i = 0; i < count; i++)
		if (results[i])
			__free_pages(pfn_to_page(results[i] - 1), all[i] & 15);
}

static bool fits(const u32 *all, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		u32 target = all[i] & ~FREE;

		if (all[i] & FREE ? target >= i || all[target] & FREE : (all[i] & 15) > MAX_PAGE_ORDER)
			return false;
	}
	return true;
}

static int __init oracle_init(void)
{
	void *data = NULL;
	ssize_t bytes = kernel_read_file_from_path(events, 0, &data, INT_MAX, NULL, READING_UNKNOWN);
	unsigned int count, i;
	unsigned long irq;
	u32 *all, *results;

	if (bytes < 0)
		return bytes;
	all = data;
	count = bytes / sizeof(*all);
	results = vzalloc(bytes);
	if (!results || !block || !fits(all, count)) {
		vfree(results);
		vfree(data);
		return -EINVAL;
	}
	local_irq_save(irq);
	for (i = 0; i < count; i++) {
		if (i % block == 0)
			look(i / block, results);
		run_event(all, results, i);
	}
	look(DIV_ROUND_UP(count, block), results);
	touch_softlockup_watchdog();
	local_irq_restore(irq);
	clean(all, results, count);
	vfree(results);
	vfree(data);
	return 0;
}

static void __exit oracle_exit(void)
{
}
module_init(oracle_init);
module_exit(oracle_exit);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Runs a file of allocations and frees, with nothing between them");
