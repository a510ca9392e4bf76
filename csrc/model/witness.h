/* A law of the user that is watched: what it returned where that was not finite. */
#ifndef LG_MODEL_WITNESS_H
#define LG_MODEL_WITNESS_H

#include "model/model.h"

typedef struct lg_witness {
    const lg_law *law;
    int n; /* number of values; 0: all were finite */
    double value[12];
} lg_witness;

/* The same law, which tells the witness; to be used as long as both. */
lg_law lg_law_watched(const lg_law *law, lg_witness *witness);

#endif
