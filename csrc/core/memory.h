/* How much memory there is to take. */
#ifndef LG_CORE_MEMORY_H
#define LG_CORE_MEMORY_H

/* Whether this many bytes fit into the memory that the machine has left, and into all that its container may have.
   Where memory is only promised when it is asked for, malloc grants more than that. What is small, or unknown,
   suffices. */
int lg_memory_suffices(double size);

#endif
