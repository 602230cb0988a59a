// SPDX-License-Identifier: GPL-2.0
/*
 * lives SEED OPERATIONS MODE [verbose]: one life; lives hold: see hold().
 *
 * MODE is plain, replicated (all nodes, from birth) or late (the mask of nodes changes at
 * random places). All modes print the same lines, or the kernel treated replicas differently.
 * The first N operations of a longer life are the life of N operations. LIVES_LOOSE in the
 * environment leaves out bits and Referenced, for processors that speculate: they set accessed
 * bits of pages that the program never touched. (QEMU's do not.)
 * Exit status: 0; 1 wrong contents or a failed call; 2 usage, or no replicas in this kernel.
 */
#include "lives.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tools/replicas.h"

#define BLOCK 8			/* operations between two digests */
#define POOL_NEEDED 32		/* huge pages that a life and its children may use at once */
#define KHUGEPAGED_ASLEEP 1000000	/* ms between two scans: none during a life */

enum { FOR_OPERATION, FOR_NODES, FOR_CHECK, FOR_END };

/* What survives exec, in a file without a name. */
struct saved {
	struct files files;
	struct life life;
};

struct life life;
struct files *files;
struct region regions[SLOTS];
static struct saved *saved;
static int saved_fd = -1;

struct dice dice_for(unsigned int operation, unsigned int purpose)
{
	struct dice dice = { life.seed * 0x9e3779b97f4a7c15ULL + life.process * 0xd1342543de82ef95ULL +
			     operation * 0x2545f4914f6cdd1dULL + purpose };

	roll(&dice, 1);
	return dice;
}

/* splitmix64 */
unsigned int roll(struct dice *dice, unsigned int sides)
{
	uint64_t z = dice->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return ((z ^ (z >> 31)) >> 32) * sides >> 32;
}

static void put(int fd, const char *format, va_list arguments)
{
	char line[2048];
	int length = vsnprintf(line, sizeof(line), format, arguments);

	for (int done = 0; done < length;) {
		int written = write(fd, line + done, length - done);

		if (written <= 0)
			_exit(1);
		done += written;
	}
}

void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put(STDOUT_FILENO, format, arguments);
	va_end(arguments);
}

void die(const char *format, ...)
{
	int error = errno;
	va_list arguments;

	for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
		dprintf(fd, "FAILED seed %lu, operation %u, process %u: ", life.seed, life.done, life.process);
		va_start(arguments, format);
		put(fd, format, arguments);
		va_end(arguments);
		dprintf(fd, " (errno %d)\n", error);
	}
	_exit(1);
}

void run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(life.cpus[cpu % life.nr_cpus], &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("processor %d", cpu);
}

/* In a late life: sometimes other nodes, also none. Its calls leave no trace in the output. */
static void change_nodes(void)
{
	struct dice dice = dice_for(life.done, FOR_NODES);
	unsigned int chance = roll(&dice, 6), mask = roll(&dice, 1u << 16), all = roll(&dice, 4);

	if (life.mode != LATE || chance)
		return;
	if (numa_set_pgtable_replication_mask(all ? mask & life.nodes : life.nodes) && errno != EOPNOTSUPP)
		die("prctl of nodes %lx", mask & life.nodes);
}

static void check_regions(bool all)
{
	struct dice dice = dice_for(life.done, FOR_CHECK);
	unsigned int one = roll(&dice, 2 * SLOTS);

	for (int i = 0; i < SLOTS; i++) {
		unsigned int half = regions[i].pages / 2;

		/* Every other check reads one region only: what was paged out shall stay so for a while. */
		if (!regions[i].used || (!all && one < SLOTS && one != (unsigned int)i))
			continue;
		run_on(roll(&dice, CPUS));
		check_pages(&regions[i], 0, half);
		run_on(roll(&dice, CPUS));
		check_pages(&regions[i], half, regions[i].pages - half);
	}
}

/*
 * Digest, all contents (also of pages without rights), and the digest that this leaves. Half of
 * the lives page all out before: what lost a dirty bit loses its data then.
 */
static void end_of_life(void)
{
	struct dice dice = dice_for(0, FOR_END);

	print_digest("at the end");
	if (roll(&dice, 2)) {
		page_out_all();
		print_digest("paged out");
	}
	for (int i = 0; i < SLOTS; i++) {
		for (unsigned int k = 0; regions[i].used && k < regions[i].pages; k++) {
			struct page *page = &regions[i].page[k];

			if (!(page->state & MAPPED) || page->state & READABLE)
				continue;
			if (!mprotect(address_of(&regions[i], k), PAGE, PROT_READ)) {
				page->state |= READABLE;
				continue;
			}
			/* A page of a huge page of the pool: with its whole huge page. */
			if (mprotect(address_of(&regions[i], k), HUGE_PAGE, PROT_READ))
				die("mprotect of page %u in region %d", k, i);
			for (unsigned int n = k; n < k + HUGE_PAGES; n++)
				regions[i].page[n].state |= READABLE;
		}
	}
	check_regions(true);
	print_digest("after the last check");
}

static _Noreturn void live_as_child(unsigned int number, unsigned int operations)
{
	unsigned int first = life.done * 100;

	for (int i = 0; i < CHILDREN; i++) {
		if (life.children[i].pid)
			close(life.children[i].release);
		life.children[i].pid = 0;
	}
	life.process = number;
	life.last_value = number << 22;
	life.done = first;
	print_digest("of a child");
	for (life.done = first; life.done < first + operations; life.done++) {
		struct dice dice = dice_for(life.done, FOR_OPERATION);

		run_on(roll(&dice, CPUS));
		one_operation(life.done, &dice);
		change_nodes();
	}
	end_of_life();
	_exit(0);
}

static void wait_for(int pid)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || status)
		die("a child ended with status %x", status);
}

void fork_now(struct dice *dice)
{
	unsigned int number = ++life.processes, operations = 1 + roll(dice, 6);
	int pid;

	life.child_operations += operations;
	say("op %u.%u fork %u\n", life.process, life.done, number);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid)
		live_as_child(number, operations);
	wait_for(pid);
}

/* A child that waits, and sees what the parent does to the memory they share meanwhile. */
void fork_late(struct dice *dice)
{
	unsigned int operations = 1 + roll(dice, 6), before = roll(dice, 2), after = roll(dice, 2), slot = 0, number;
	int ends[2], pid;
	char byte;

	while (slot < CHILDREN && life.children[slot].pid)
		slot++;
	if (slot == CHILDREN)
		return;
	if (before)
		reuse(dice);
	number = ++life.processes;
	life.child_operations += operations;
	say("op %u.%u fork %u, which waits\n", life.process, life.done, number);
	if (pipe(ends))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 1)
			_exit(1);
		live_as_child(number, operations);
	}
	close(ends[0]);
	life.children[slot].pid = pid;
	life.children[slot].release = ends[1];
	if (after)
		drop(dice);
}

static void release_child(struct child *child)
{
	if (!child->pid)
		return;
	if (write(child->release, "", 1) != 1)
		die("release of a child");
	wait_for(child->pid);
	close(child->release);
	child->pid = 0;
}

void release(struct dice *dice)
{
	int slot = roll(dice, CHILDREN);

	say("op %u.%u release %d\n", life.process, life.done, slot);
	release_child(&life.children[slot]);
}

static _Noreturn void exec_self(void)
{
	char fd[16];

	snprintf(fd, sizeof(fd), "%d", saved_fd);
	saved->life = life;
	execl("/proc/self/exe", "lives", "resume", fd, NULL);
	die("exec");
}

/* A new address space: the regions are gone, files and children stay. */
void exec_again(struct dice *dice)
{
	(void)dice;
	say("op %u.%u exec\n", life.process, life.done);
	life.done++;
	exec_self();
}

static void live(void)
{
	while (life.done < life.operations) {
		struct dice dice = dice_for(life.done, FOR_OPERATION);

		if (life.done && life.done % BLOCK == 0) {
			print_digest("of a block");
			check_regions(false);
		}
		run_on(roll(&dice, CPUS));
		one_operation(life.done, &dice);
		life.done++;
		change_nodes();
	}
	for (int i = 0; i < CHILDREN; i++)
		release_child(&life.children[i]);
	end_of_life();
	say("end of seed %lu: %u operations, %u processes with %u operations\n", life.seed, life.operations,
	    life.processes, life.child_operations);
}

static long number_in(const char *path)
{
	long number = -1;
	FILE *file = fopen(path, "r");

	if (file && fscanf(file, "%ld", &number) != 1)
		number = -1;
	if (file)
		fclose(file);
	return number;
}

static unsigned long nodes_with_memory(void)
{
	FILE *file = fopen("/sys/devices/system/node/has_memory", "r");
	unsigned long mask = 0;
	int first, last, read;

	while (file && (read = fscanf(file, "%d-%d", &first, &last)) >= 1) {
		for (last = read == 2 ? last : first; first <= last && first < 16; first++)
			mask |= 1UL << first;
		if (fgetc(file) != ',')
			break;
	}
	if (file)
		fclose(file);
	return mask ? mask : 1;
}

/* What is missing is left out, of both lives. */
static void look_at_machine(void)
{
	static const char huge[] = "/sys/kernel/mm/transparent_hugepage/enabled";
	char line[80] = "";
	FILE *file = fopen(huge, "r");
	cpu_set_t set;

	if (file && !fgets(line, sizeof(line), file))
		line[0] = '\0';
	if (file)
		fclose(file);
	life.huge = strchr(line, '[') && !strstr(line, "[never]") &&
		    number_in("/sys/kernel/mm/transparent_hugepage/khugepaged/scan_sleep_millisecs") >= KHUGEPAGED_ASLEEP;
	life.pool = number_in("/proc/sys/vm/nr_hugepages") >= POOL_NEEDED;
	life.nodes = nodes_with_memory();
	if (sched_getaffinity(0, sizeof(set), &set))
		die("sched_getaffinity");
	for (int cpu = 0; cpu < CPU_SETSIZE && life.nr_cpus < CPUS; cpu++)
		if (CPU_ISSET(cpu, &set))
			life.cpus[life.nr_cpus++] = cpu;
	say("life of seed %lu: huge pages %d, pool %d, bits %d, processors %d, nodes %lx\n", life.seed, life.huge,
	    life.pool, !access("/sys/kernel/debug/pgtable_replication/bits", R_OK) && !life.loose, life.nr_cpus,
	    life.nodes);
}

/*
 * khugepaged scans at once when the first process asks for huge pages, and then after its pause.
 * This process asks before all others, and stays.
 */
static void hold(void)
{
	void *memory = mmap(NULL, HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED || madvise(memory, HUGE_PAGE, MADV_HUGEPAGE))
		die("madvise");
	for (;;)
		pause();
}

static void resume(int fd)
{
	saved_fd = fd;
	saved = mmap(NULL, sizeof(*saved), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (saved == MAP_FAILED)
		die("mmap of the saved state");
	life = saved->life;
	files = &saved->files;
}

static void begin(char **words)
{
	static const char *const modes[] = { "plain", "replicated", "late" };
	int mode = 0;

	saved_fd = memfd_create("saved", 0);
	if (saved_fd < 0 || ftruncate(saved_fd, sizeof(*saved)))
		die("memfd of the saved state");
	resume(saved_fd);
	life.seed = strtoul(words[1], NULL, 0);
	life.operations = strtoul(words[2], NULL, 0);
	while (mode < 3 && strcmp(words[3], modes[mode]))
		mode++;
	if (mode == 3) {
		fprintf(stderr, "lives: %s: no such mode\n  what to do: give plain, replicated or late\n", words[3]);
		exit(2);
	}
	life.mode = mode;
	life.verbose = words[4] != NULL;
	life.loose = getenv("LIVES_LOOSE") != NULL;
	look_at_machine();
	open_files();
	/* The same addresses in each life. */
	if (personality(personality(0xffffffff) | ADDR_NO_RANDOMIZE) < 0)
		die("personality");
	if (mode == REPLICATED && numa_set_pgtable_replication_mask(life.nodes)) {
		fprintf(stderr, "lives: replicas on nodes %lx: %s\n  what to do: boot a kernel with the patches, and "
			"sysctl vm.pgtable_replication=1\n", life.nodes, strerror(errno));
		exit(2);
	}
	exec_self();
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "hold"))
		hold();
	if (argc == 3 && !strcmp(argv[1], "resume")) {
		resume(atoi(argv[2]));
		live();
		return 0;
	}
	if (argc < 4 || argc > 5) {
		fprintf(stderr, "usage: lives SEED OPERATIONS plain|replicated|late [verbose]\n");
		return 2;
	}
	begin(argv);
}
