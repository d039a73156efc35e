/* The communicators of a random program, in slots that are the same on all ranks. */
#ifndef COMMUNICATORS_H
#define COMMUNICATORS_H

#include "random_calls.h"

/* A new one in place of the slot's. Collective over the world. */
void remake(int slot);
/* Null on ranks that are not in it. */
const struct Comm* in_slot(int slot);
const struct Comm* the_world(void);
void free_all(void);

#endif
