/* A library whose constructor takes memory before any preloaded library has run, and keeps it: small pieces from the
 * kernel's heap, a large one by mmap. It leaves free pieces behind as well, which malloc would hand out again. */
#include <stdlib.h>
#include <string.h>

enum { PIECES = 400, SMALL = 700, LARGE = 8 << 20 };
char* early_large;
char* early_pieces[PIECES];

__attribute__((constructor)) static void take(void) {
    early_large = malloc(LARGE);
    if (early_large != NULL) memset(early_large, 'e', LARGE);
    for (int i = 0; i < PIECES; ++i) {
        early_pieces[i] = malloc(SMALL);
        if (early_pieces[i] != NULL) memset(early_pieces[i], 'e', SMALL);
    }
    for (int i = 0; i < PIECES; i += 2) {
        free(early_pieces[i]);
        early_pieces[i] = NULL;
    }
}
