/* tunables.h - glibc.malloc.hugetlb in GLIBC_TUNABLES, for the launcher, which removes it, and the library, which refuses it.
 *
 * glibc reads the variable before any library: pairs name=value with colons between them, and a value is a number in C's
 * notation. 0 is malloc as always, 1 asks for transparent huge pages, 2 or a page size for huge pages by mmap (glibc 2.35).
 */
#ifndef MOSALLOC_TUNABLES_H
#define MOSALLOC_TUNABLES_H

namespace mosalloc_tunables {

constexpr char kVariable[] = "GLIBC_TUNABLES=";
constexpr char kName[] = "glibc.malloc.hugetlb=";

/* Whether the pair [at, end) is this tunable with a value that is not zero. A value that is no number counts. */
inline bool is_huge(const char* at, const char* end) {
    const char* name = kName;
    while (*name != 0 && at < end && *at == *name) ++at, ++name;
    if (*name != 0 || at == end) return false;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) at += 2;
    while (at < end && *at == '0') ++at;
    return at != end;
}

inline const char* end_of_pair(const char* at) {
    while (*at != 0 && *at != ':') ++at;
    return at;
}

/* `value` is what follows GLIBC_TUNABLES= */
inline bool asks_huge_pages(const char* value) {
    for (const char* at = value;; ++at) {
        const char* end = end_of_pair(at);
        if (is_huge(at, end)) return true;
        if (*end == 0) return false;
        at = end;
    }
}

}  // namespace mosalloc_tunables

#endif
