/* How much memory is left. */
#ifndef LG_CORE_MEMORY_H
#define LG_CORE_MEMORY_H

/* Whether this many bytes fit into the memory that the machine has left, and into all that its container may have. On
   systems that promise memory before they have it, malloc would grant more. Small requests always pass, as does any
   request while the free memory is unknown. */
int lg_memory_suffices(double size);

#endif
