/* The C interface of libondula-cuda-sim.so beside the driver's own: what tests set, plan and count. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** How operations run. */
enum ondula_sim_mode {
  ONDULA_SIM_FAST = 0,    /**< each when it is enqueued; nothing is ever pending */
  ONDULA_SIM_SHUFFLE = 1, /**< when something forces them, in an order drawn from the seed */
  ONDULA_SIM_CHECK = 2    /**< as late as can be, in an order drawn from the seed, every access looked at */
};

/** What exists now. */
struct ondula_sim_counts {
  uint64_t allocations; /**< of device memory */
  uint64_t bytes;       /**< of device memory, over all devices */
  uint64_t peak_bytes;  /**< the most there has been since the last reset */
  uint64_t pinned;      /**< allocations of pinned host memory */
  uint64_t modules;
  uint64_t streams; /**< created ones; a context's own do not count */
  uint64_t events;
  uint64_t graphs;
  uint64_t execs;    /**< instantiated graphs */
  uint64_t contexts; /**< primary contexts that are retained, and created ones */
  uint64_t programs; /**< NVRTC programs */
};

/** What the launches of one kernel did, all together. */
struct ondula_sim_kernel {
  char name[128];
  uint64_t launches;
  uint64_t threads;
  uint64_t sectors_read;    /**< distinct sectors of 32 bytes, each once a launch; where they are counted */
  uint64_t sectors_written; /**< the same */
  uint64_t block_sectors_read;    /**< each once a block and pass of its loop: what L1 does not keep */
  uint64_t block_sectors_written; /**< the same */
};

/** Ends what is pending, then changes the mode (enum ondula_sim_mode). Memory that exists counts as written.
 */
void ondula_sim_set_mode(int mode, uint64_t seed);

/** Copies what was found since the last call, a paragraph each, and forgets it; returns how many there were.
 * `text` holds at most `size` bytes, zero-terminated; it may be null. */
int ondula_sim_report(char* text, size_t size);

/** The nth call from now (1: the next) of the driver's function `name`, or of any with "*", returns `result`.
 * A call that destroys something still does. 700, 719 and 999 poison the current context: all later calls on
 * it return the same until its last reference is gone. NVRTC's functions are only counted by their name. */
void ondula_sim_fail(const char* name, uint64_t nth, int result);

/** Copies the name of the call that the last planned fault came to, zero-terminated, at most `size` bytes;
 * empty before the first. */
void ondula_sim_failed(char* name, size_t size);

/** Calls of the driver so far, those for names and texts of errors left out. */
uint64_t ondula_sim_calls(void);

/** Counts what exists. */
void ondula_sim_live(struct ondula_sim_counts* counts);

/** Counts sectors from now on (1) or no longer (0): slow, every access is looked at. */
void ondula_sim_count_sectors(int on);

/** Fills at most `capacity` records, ordered by name; returns how many kernels there are. */
int ondula_sim_counters(struct ondula_sim_kernel* kernels, int capacity);

/** Sets what the counters count back to zero. */
void ondula_sim_clear_counters(void);

/** What the driver pretends to be, from the next cuInit on: number of devices, compute capability (90),
 * bytes of memory of each, the driver's version (13000), multiprocessors. A negative (memory: zero) value
 * leaves a figure as it is. */
void ondula_sim_configure(int devices, int capability, uint64_t memory, int driver_version,
                          int multiprocessors);

/** What loading a module gives where the driver's version is older than the toolkit's: 222 unless set; 0
 * loads.
 */
void ondula_sim_old_driver(int result);

/** As in a process just started: everything is destroyed, unreported; environment and defaults apply. */
void ondula_sim_reset(void);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif
