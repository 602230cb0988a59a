/* Prints the lowest and the highest address that malloc gives to main, over all sizes that malloc treats differently;
 * and whether what the constructor took is still whole. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern char* early_large;
extern char* early_pieces[400];

int main(void) {
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (size_t bytes = 1; bytes < 1 << 20; bytes += bytes < 2048 ? 8 : bytes / 2)
        for (int i = 0; i < 8; ++i) {
            const uintptr_t at = (uintptr_t)malloc(bytes);
            low = at < low ? at : low;
            high = at > high ? at : high;
        }
    int whole = early_large[0] == 'e' && early_large[(8 << 20) - 1] == 'e';
    for (int i = 1; i < 400; i += 2) whole &= early_pieces[i][0] == 'e' && early_pieces[i][699] == 'e';
    free(early_pieces[1]);
    printf("%llu %llu %d\n", (unsigned long long)low, (unsigned long long)high, whole);
    return 0;
}
