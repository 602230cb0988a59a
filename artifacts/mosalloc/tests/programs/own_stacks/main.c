/* own_stacks CASE: threads and coroutines whose stacks lie in memory of the program, and that change the protections of
 * the huge page that holds the stack they run on. Prints "right"; on the bare kernel, too. The alarm ends a program that
 * stands still; a caller needs a timeout as well, because signals may be blocked then. */
#include "own_stacks.h"

static const struct {
    const char* name;
    void (*run)(void);
} kCases[] = {
    {"coroutines", coroutines},     {"coroutines_threads", coroutines_threads}, {"setstack", setstack},
    {"fork", forks_from_own_stack}, {"fork_threads", forks_beside_writer},      {"pool_threads", pool_threads},
    {"altstack", altstack},
};

int main(int count, char** words) {
    alarm(SECONDS);
    for (size_t i = 0; count == 2 && i < sizeof kCases / sizeof kCases[0]; ++i) {
        if (strcmp(words[1], kCases[i].name) != 0) continue;
        map_blocks();
        kCases[i].run();
        puts("right");
        return 0;
    }
    for (size_t i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) puts(kCases[i].name);
    return count == 2 ? 2 : 0; /* without a case: their names */
}
