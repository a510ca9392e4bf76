/* How much memory is left; see memory.h. It is read from files of Linux. */
#include "core/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first number in a file, or the one after a label unless that is NULL; INFINITY if there is none. */
static double number_in(const char *path, const char *label)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return INFINITY;
    char line[128];
    double number = INFINITY;
    size_t skipped = label ? strlen(label) : 0;
    while (isinf(number) && fgets(line, sizeof line, file))
        if (!label || strncmp(line, label, skipped) == 0)
            (void)sscanf(line + skipped, "%lf", &number);
    fclose(file);
    return number;
}

/* Bytes; INFINITY if unknown. */
static double bytes_left(void)
{
    double machine = 1024 * number_in("/proc/meminfo", "MemAvailable:");
    double container = number_in("/sys/fs/cgroup/memory.max", NULL);
    double older_container = number_in("/sys/fs/cgroup/memory/memory.limit_in_bytes", NULL);
    return fmin(machine, fmin(container, older_container));
}

int lg_memory_suffices(double size)
{
    static const double small = 0x1p26; /* bytes; so little always passes, without reading files */
    return size < small || size <= bytes_left();
}
