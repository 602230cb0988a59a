/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TESSERA_STATUS_H
#define TESSERA_STATUS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of /proc/self/status, in kB; 0 where the kernel has no such line. */
static inline long status_kb(const char *key)
{
	char line[256];
	long kb = 0;
	FILE *file = fopen("/proc/self/status", "r");

	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, key, strlen(key)))
			kb = atol(line + strlen(key));
	if (file)
		fclose(file);
	return kb;
}

#endif
