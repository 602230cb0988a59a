/* starters.h - programs that start another program, by name: the layout is for that one.
 *
 * A starter runs exactly one program (env X=1 prog), so the launcher and the library skip it and take the next.
 * A shell runs any number of programs, so the user must name the one that gets the layout (--target).
 */
#ifndef MOSALLOC_STARTERS_H
#define MOSALLOC_STARTERS_H

static const char* const kMosallocStarters[] = {
    "env",    "nice", "nohup",   "timeout", "taskset", "chrt",    "ionice", "setsid",
    "stdbuf", "time", "numactl", "prlimit", "setarch", "linux64", "choom",  "setpriv",
};
static const char* const kMosallocShells[] = {
    "sh", "bash", "dash", "zsh", "ksh", "mksh", "fish", "csh", "tcsh", "busybox", "xargs", "make", "gmake",
};

/* Whether `name` is in the table; needs no libc. */
template <unsigned long count>
inline bool mosalloc_is_one_of(const char* const (&table)[count], const char* name) {
    for (const char* const known : table) {
        unsigned long i = 0;
        while (known[i] != 0 && known[i] == name[i]) ++i;
        if (known[i] == 0 && name[i] == 0) return true;
    }
    return false;
}

#endif
