# SPDX-License-Identifier: MIT
# touches.S - one instruction for each kind of fault, so that its address names the kind. void touch_<kind>(char *page).

    .section .note.GNU-stack, "", @progbits
    .text

.macro touch name, instruction:vararg
    .globl touch_\name
    .type touch_\name, @function
touch_\name:
    \instruction
    ret
    .size touch_\name, . - touch_\name
.endm

    .globl touches_begin
touches_begin:
    touch write_4kb, movb $1, (%rdi)
    touch read_zero, movb (%rdi), %al
    touch write_zero, movb $1, (%rdi)
    touch read_file, movb (%rdi), %al
    touch write_private, movb $1, (%rdi)
    touch write_cow, movb $1, (%rdi)
    touch write_reuse, movb $1, (%rdi)
    touch write_2mb, movb $1, (%rdi)
    .globl touches_end
touches_end:
