// start.cpp - everything from LD_PRELOAD to the first hooked call, in this order: options, test for the target,
// pool map, layout, address space, windows, patches of libc, fork handlers, rest of malloc's memory in the kernel's heap.
// Any failure ends the process with status 2 before the program runs; there is no silent fallback.
#include <cerrno>
#include <cstring>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/layout.h"
#include "core/sys.h"
#include "core/table.h"
#include "mosalloc/tunables.h"
#include "preload/any_call.h"
#include "preload/drain.h"
#include "preload/events.h"
#include "preload/forks.h"
#include "preload/hooks.h"
#include "preload/hugepages.h"
#include "preload/map_file.h"
#include "preload/marks.h"
#include "preload/options.h"
#include "preload/other_libc.h"
#include "preload/seccomp.h"
#include "preload/target.h"

namespace mosalloc {
namespace {

char g_message[1024], g_remedy[256], g_skipped[128];
Layout g_layout;  // too large for a stack

[[noreturn]] void refuse(const char* remedy) {
    Text message(g_message + strlen(g_message), sizeof g_message - strlen(g_message));
    if (remedy != nullptr) message.add("\n  what to do: ").add(remedy);
    mark_refused(runtime().map, g_message);
    sys::write(2, "mosalloc: ", 10);
    sys::write(2, g_message, strlen(g_message));
    sys::write(2, "\n", 1);
    sys::exit_group(2);
}

void read_layout(const char* path) {
    const long fd = sys::open(path, O_RDONLY | O_NONBLOCK);  // a pipe without a writer must not block
    struct stat status = {};
    const long error = sys::failed(fd) ? fd : sys::call(SYS_fstat, fd, reinterpret_cast<long>(&status));
    if (sys::failed(error)) {
        Text(g_message).add("layout ").add(path).add(": cannot be opened (errno ").number(static_cast<uint64_t>(-error)).add(")");
        refuse("check the path in MOSALLOC_LAYOUT; it is relative to the program's working directory");
    }
    if (!S_ISREG(status.st_mode)) {
        Text(g_message).add("layout ").add(path).add(": it is no regular file, but a folder, a pipe or a device");
        refuse("give the path of a regular file");
    }
    const uint64_t size = static_cast<uint64_t>(status.st_size);
    char* text = static_cast<char*>(make_table(size));
    uint64_t got = 0;
    for (long n = 1; text != nullptr && got < size && n > 0; got += n > 0 ? static_cast<uint64_t>(n) : 0)
        n = sys::read(fd, text + got, size - got);
    sys::close(fd);
    Text reason(g_message);
    if (text == nullptr || got != size) {
        reason.add("layout ").add(path).add(": read ").number(got).add(" of ").size(size);
        refuse("give the path of a regular file");
    }
    if (!parse_layout(text, size, path, &g_layout, &reason)) refuse(nullptr);
    drop_table(text, size);
}

/// Finds an address range for all pools above the kernel's heap. Below it, glibc's malloc would abort, because the break
/// would appear to shrink. The base is a multiple of 1GB, so that offsets have the alignment of addresses.
uint64_t reserve(uint64_t bytes) {
    const uint64_t kernel_heap = static_cast<uint64_t>(sys::brk(0));
    constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    long at = sys::mmap(0, bytes + kPage1G, PROT_NONE, flags);
    if (!sys::failed(at)) sys::munmap(static_cast<uint64_t>(at), bytes + kPage1G);
    uint64_t base = sys::failed(at) ? 0 : align_up(static_cast<uint64_t>(at), kPage1G);
    // With an unlimited stack the kernel maps upward from a third of the address space, below the heap.
    for (int tries = 0; !sys::failed(at) && tries < 64; ++tries) {
        if (base > kernel_heap) {
            const long got = sys::mmap(base, bytes, PROT_NONE, flags | MAP_FIXED_NOREPLACE);
            if (!sys::failed(got) && static_cast<uint64_t>(got) == base) return base;
            if (!sys::failed(got)) sys::munmap(static_cast<uint64_t>(got), bytes);
        }
        const uint64_t above = base > kernel_heap ? base : align_up(kernel_heap, kPage1G) + (uint64_t{64} << 30);
        base = above + align_up(bytes, kPage1G);
    }
    Text(g_message)
        .add("pools of ")
        .size(bytes)
        .add(": no free address range of this size above the kernel's heap at ")
        .hex(kernel_heap)
        .add(sys::failed(at) ? ", mmap failed with errno " : ", last errno ")
        .number(static_cast<uint64_t>(sys::failed(at) ? -at : ENOMEM));
    refuse("lower the pool sizes (rows with pageSize -1), or raise the limit: ulimit -v unlimited");
}

[[noreturn]] void refuse_pages(const Window& window, long result) {
    const HugePages now = huge_pages(window.page_bytes);
    const uint64_t asked = g_layout.pages(window.page_bytes);
    Text text(g_message);
    text.add("asked for ").number(asked).add(" pages of ").size(window.page_bytes).add(" (layout line ").number(window.line).add("): ");
    if (!now.supported) {
        text.add("this kernel or processor does not support pages of this size");
        refuse("use a layout without such windows, or a machine that supports them");
    }
    const HugeAllowance& allowance = huge_allowance(window.page_bytes);
    text.add("found ").number(now.unused).add(" free of ").number(now.total).add(" reserved");
    const uint64_t allowed = allowance.bytes / window.page_bytes;
    if (allowance.limited()) text.add(", ").number(allowed).add(" of them allowed by ").add(allowance.file);
    text.add(" (errno ").number(static_cast<uint64_t>(-result)).add(")");
    if (allowed < (window.end - window.start) / window.page_bytes && allowed < now.unused) {
        Text(g_remedy)
            .add("as root: raise this limit of the cgroup by ")
            .number(asked > allowed ? asked - allowed : 1)
            .add(" pages of ")
            .size(window.page_bytes)
            .add(", or start the program in a cgroup without it");
        refuse(g_remedy);
    }
    Text command(g_remedy);
    const uint64_t enough = now.total + (asked > now.unused ? asked - now.unused : 0);
    if (window.page_bytes == kPage2M) command.add("as root: sysctl vm.nr_hugepages=").number(enough);
    else command.add("as root: echo ").number(enough).add(" > /sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages");
    if (asked <= now.unused) command.add("; or, since enough pages are free, check the limits: hugetlb cgroup, ulimit -v");
    refuse(g_remedy);
}

/// On demand, the library does not take the pages now, but a run that cannot get them must not start.
long promise_window(const Window& window) {
    const HugePages now = huge_pages(window.page_bytes);
    return now.supported && now.free >= g_layout.pages(window.page_bytes) ? 0 : -ENOMEM;
}

void back_windows(const Options& options) {
    Space& space = runtime().space;
    mosalloc_pool_map* map = runtime().map;
    map->on_demand = options.policy().on_demand ? 1 : 0;
    for (size_t i = 0; i < g_layout.window_count; ++i) {
        const Window& w = g_layout.windows[i];
        Pool& pool = space.pool(w.pool);
        const Range range{w.start, w.end};
        const uint64_t at = pool.base() + range.start;
        const long result = map->on_demand != 0 ? promise_window(w) : back_window(at, range.bytes(), w.page_bytes);
        if (!sys::failed(result)) {
            pool.add_window(range, w.page_bytes);
        } else if (options.is(&Options::fallback, "1")) {
            reserve_span(at, range.bytes());
            ++map->fallback_windows;
        } else {
            refuse_pages(w, result);
        }
        map->windows[i] = {w.pool, w.page_bytes, range.start, range.end, sys::failed(result) ? 0u : 1u};
        map->window_count = i + 1;
    }
}

void build_space(const Options& options) {
    Policy policy = options.policy();
    policy.remap_released = strict_overcommit() || !drops_contents();
    policy.most_holes = mapping_limit() / 4;
    policy.most_bytes = always_overcommits() ? ~uint64_t{0} : memory_and_swap();
    policy.touch_present = huge_allowance(kPage2M).limited() || huge_allowance(kPage1G).limited();
    constexpr uint64_t never_free = uint64_t{1} << 62;  // larger than any address space, and the sum of three fits 64 bits
    uint64_t bases[kPools], total = 0;
    for (uint64_t bytes : g_layout.pool_bytes) total += align_up(bytes < never_free ? bytes : never_free, kPage1G);
    uint64_t at = reserve(total);
    bool good = true;
    for (size_t kind = 0; kind < kPools; ++kind) {
        const uint64_t bytes = g_layout.pool_bytes[kind], span = align_up(bytes, kPage1G);
        bases[kind] = at;
        good = good && !sys::failed(reserve_span(at, bytes));
        if (span != bytes) sys::munmap(at + bytes, span - bytes);
        at += span;
    }
    Runtime& here = runtime();
    if (!good || !here.space.init(bases, g_layout, policy, here.map) || !here.outside.init(here.map) ||
        !here.reservations.init(here.map, options.is(&Options::reservations, "kernel"))) {
        Text(g_message).add("tables for pools of ").size(total).add(": not enough memory");
        refuse("lower the pool sizes (rows with pageSize -1), or raise the limits: ulimit -v unlimited; ulimit -d unlimited");
    }
    for (uint64_t kind = 0; kind < kPools; ++kind) {
        mosalloc_pool& shown = kind < MOSALLOC_POOL_COUNT ? here.map->pools[kind] : here.map->file_pool;
        shown = {kind, bases[kind], g_layout.pool_bytes[kind], 0, 0, 0};
    }
    here.hints_in_pool = options.is(&Options::hints, "pool");
    here.stacks_in_pool = options.is(&Options::stacks, "pool");
    back_windows(options);
}

void tell(const Options& options) {
    char line[768];
    Text text(line);
    text.add("mosalloc: layout ")
        .add(options.layout)
        .add(", prefault ")
        .add(options.prefault)
        .add(", allow fallback ")
        .add(options.fallback)
        .add(", hints ")
        .add(options.hints)
        .add(", stacks ")
        .add(options.stacks)
        .add(", protections ")
        .add(options.protections)
        .add(", keep bytes ")
        .add(options.keep)
        .add(", reservations ")
        .add(options.reservations)
        .add(", thp ")
        .add(options.thp)
        .add(", windows ")
        .number(g_layout.window_count);
    for (uint64_t kind = 0; kind < MOSALLOC_POOL_COUNT; ++kind)
        text.add(", ")
            .add(kPoolNames[kind])
            .add(" pool at ")
            .hex(runtime().map->pools[kind].base)
            .add(" of ")
            .size(runtime().map->pools[kind].size_bytes);
    if (g_skipped[0] != 0) text.add(", libc functions that are not intercepted:").add(g_skipped);
    text.add("\n");
    sys::write(2, line, text.length());
}

/// glibc's malloc took this tunable before the library started: 2 (or a page size) maps huge pages of its own, which no
/// layout has, and 1 makes the heap grow in other steps. Returns the variable, or null if malloc is as always.
const char* huge_malloc(char** environment) {
    for (char** variable = environment; *variable != nullptr; ++variable)
        if (strncmp(*variable, mosalloc_tunables::kVariable, strlen(mosalloc_tunables::kVariable)) == 0 &&
            mosalloc_tunables::asks_huge_pages(*variable + strlen(mosalloc_tunables::kVariable)))
            return *variable;
    return nullptr;
}

/// The launcher runs the target without transparent huge pages. The kernel keeps that over fork and exec, and other programs
/// get them back here. If the call fails, the launcher finds the pages.
void set_large_pages(const Options& options, bool target) {
    if (options.is(&Options::thp, "off")) sys::call(SYS_prctl, PR_SET_THP_DISABLE, target ? 1 : 0);
}

/// A starter is skipped, then the first program is the target. A shell would start many.
bool gets_the_layout(const Options& options, const char* argv0) {
    const bool starters = options.is(&Options::starters, "1");
    const Kind kind = starters ? kind_of_program(argv0) : Kind::program;
    if (kind == Kind::starter) return false;
    char path[4096];
    own_path(path, sizeof path);
    if (is_target(options.target, argv0) && (!starters || claim_map(options.pool_map) == Claim::free)) {
        if (kind != Kind::shell) return true;
        runtime().map = open_map(options.pool_map, g_message, sizeof g_message);
        g_message[0] = 0;
        Text(g_message).add("program ").add(path).add(": a shell starts other programs, and only one gets the layout");
        refuse("name it: --target PROGRAM");
    }
    count_other_program(options.pool_map, path);
    return false;
}

__attribute__((constructor)) void start(int, char** arguments, char** environment) {
    Options options;
    const char *bad = nullptr, *allowed = nullptr;
    const bool glibc = has_glibc();
    const bool good = read_options(glibc ? environment : environ, &options, &bad, &allowed);
    if (!gets_the_layout(options, glibc ? arguments[0] : nullptr)) return set_large_pages(options, false);
    runtime().map = open_map(options.pool_map, g_message, sizeof g_message);
    if (runtime().map == nullptr) refuse("give MOSALLOC_POOL_MAP a file in a folder that can be written");
    if (!glibc) {
        char path[1024];
        own_path(path, sizeof path);
        Text(g_message)
            .add("program ")
            .add(path)
            .add(
                ": its C library is not glibc (musl, for example), and the library "
                "needs glibc 2.34 or later");
        refuse("run a build of the program for glibc, or set MOSALLOC_TARGET=program to skip all other programs");
    }
    if (!good) {
        Text(g_message).add(bad).add(": must be one of: ").add(allowed);
        refuse("correct the variable");
    }
    if (options.layout == nullptr) {
        Text(g_message).add("MOSALLOC_LAYOUT: not set");
        refuse("set MOSALLOC_LAYOUT=layout.csv, or set MOSALLOC_TARGET=program to skip all other programs");
    }
    read_layout(options.layout);
    if (const char* call = forbidden_call(g_layout.window_count != 0)) {
        Text(g_message).add("seccomp: the filter of this process kills it for ").add(call).add(", which the library may call");
        refuse("allow this call in the filter (an error instead of a kill is enough), or start the program without it");
    }
    if (const char* variable = huge_malloc(environ)) {
        Text(g_message)
            .add("program: ")
            .add(variable, strnlen(variable, 300))
            .add(": malloc would take huge pages that the layout does not have");
        refuse(
            "remove glibc.malloc.hugetlb from GLIBC_TUNABLES in the command or the program that sets it; the layout says where huge "
            "pages are (mosalloc-run removes it from its own environment)");
    }
    build_space(options);
    set_large_pages(options, true);
    prepare_any_call();
    if constexpr (kTellsEvents) tell_first_areas();
    Text error(g_message), skipped(g_skipped);
    for (const auto table : {hooks, mark_hooks}) {
        size_t count;
        const Patch* patches = table(&count);
        if (!patch_libc(patches, count, &error, &skipped))
            refuse("run without this security policy, and with glibc 2.34 or later on x86-64");
    }
    watch_forks();
    drain_kernel_heap();
    __atomic_store_n(&runtime().map->state, 1, __ATOMIC_RELEASE);
    if (options.is(&Options::verbose, "1")) tell(options);
}

}  // namespace
}  // namespace mosalloc
