/* Prints the kernel's break and the program's: the second is the library's when that is there. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    void* volatile block = malloc(100);
    printf("%ld %ld\n", syscall(SYS_brk, 0L), (long)sbrk(0));
    return block == NULL;
}
