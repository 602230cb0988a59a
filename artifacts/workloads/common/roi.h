/* roi.h - markers around the region of interest (ROI).
 *
 * A marker is one long NOP whose 32-bit displacement spells its meaning. It has no effect on a real CPU,
 * but a tracer that decodes instructions sees it. Begin: 0f 1f 80 'T''S''R''B' (nopl 0x42525354(%rax));
 * end: 0f 1f 80 'T''S''R''E'. Both are compiler barriers. Memory is prefaulted before `begin`.
 */
#ifndef TESSERA_ROI_H
#define TESSERA_ROI_H

#define TESSERA_ROI_BEGIN() __asm__ volatile(".byte 0x0f,0x1f,0x80,0x54,0x53,0x52,0x42" ::: "memory")
#define TESSERA_ROI_END() __asm__ volatile(".byte 0x0f,0x1f,0x80,0x54,0x53,0x52,0x45" ::: "memory")

#endif
