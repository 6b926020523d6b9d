/* Ondula for C and for languages that call C: opaque handles, error codes, nothing printed, no globals. */
/* SPDX-License-Identifier: MIT */
/*
 * Handles are made by *_create or by a call that gives one, and freed by *_free, which takes NULL too. What a
 * call is given it copies; handles may be freed in any order. Every call that can fail returns a status and,
 * where `error` is not NULL, sets *error: to NULL on success, else to an error that the caller frees. A
 * failed call leaves its handles usable. One handle belongs to one thread at a time; different ones may be
 * used in different threads.
 *
 * Arrays are double and C-ordered over the grid's axes; positions are metres, one coordinate an axis.
 */
#ifndef ONDULA_H
#define ONDULA_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ONDULA_C_API __attribute__((visibility("default")))
#else
#define ONDULA_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* How a call ended; the numbers are the exit statuses of the program `ondula`. */
typedef enum ondula_status {
  ONDULA_DONE = 0,
  ONDULA_USER_ERROR = 2,      /* the input is wrong: the message says what was found and what is allowed */
  ONDULA_COMPILE_ERROR = 3,   /* kernels did not compile: see the log and the source's path */
  ONDULA_RUNTIME_ERROR = 4,   /* memory, disk, a field that is no longer finite */
  ONDULA_INTERNAL_ERROR = 70, /* a fault of Ondula's own */
  ONDULA_CANCELLED = 130      /* by the cancel callback */
} ondula_status;

typedef struct ondula_error ondula_error;
typedef struct ondula_grid ondula_grid;
typedef struct ondula_options ondula_options;
typedef struct ondula_source ondula_source;
typedef struct ondula_shot ondula_shot;
typedef struct ondula_propagator ondula_propagator;
typedef struct ondula_records ondula_records;
typedef struct ondula_state ondula_state;
typedef struct ondula_step ondula_step;

/* The version of the loaded library, "MAJOR.MINOR.PATCH". */
ONDULA_C_API const char* ondula_version(void);

/* Errors. The texts live as long as the error and are never NULL. */
ONDULA_C_API const char* ondula_error_message(const ondula_error* error);
ONDULA_C_API const char* ondula_error_log(const ondula_error* error);         /* of the compiler, else "" */
ONDULA_C_API const char* ondula_error_source_path(const ondula_error* error); /* of a saved source, else "" */
ONDULA_C_API void ondula_error_free(ondula_error* error);

/* Grids. `axes` are letters, slowest first: "z", "x", "zx" or "zyx"; shape, spacing (m) and origin (m, NULL
 * for 0) have one entry an axis. Every face starts as an absorbing layer of 20 cells. */
typedef enum ondula_face {
  ONDULA_FACE_ABSORBING = 0, /* `width` cells, added outside the grid; 0 is a rigid wall */
  ONDULA_FACE_FREE_SURFACE = 1,
  ONDULA_FACE_RIGID = 2,
  ONDULA_FACE_PERIODIC = 3
} ondula_face;
ONDULA_C_API ondula_status ondula_grid_create(const char* axes, const int64_t* shape, const double* spacing,
                                              const double* origin, ondula_grid** grid, ondula_error** error);
/* `name`: an axis and a side, "z-" or "x+". `width` counts for absorbing faces only. */
ONDULA_C_API ondula_status ondula_grid_set_face(ondula_grid* grid, const char* name, ondula_face kind,
                                                int width, ondula_error** error);
ONDULA_C_API void ondula_grid_free(ondula_grid* grid);

/* Options. `dt`: the sampling of wavelets and records, s; `steps`: samples of a record. */
ONDULA_C_API ondula_status ondula_options_create(double dt, int64_t steps, ondula_options** options,
                                                 ondula_error** error);
/* order, substeps (0: automatic), threads (0: one a core), device_bytes_limit (0: none), cache_limit (bytes),
   device (which CUDA device), tune (not 0: measure launch shapes on backend cuda), shot_batch (shots that a
   CUDA device runs at once, at most; 0: automatic).
 */
ONDULA_C_API ondula_status ondula_options_set_integer(ondula_options* options, const char* name,
                                                      int64_t value, ondula_error** error);
/* t0 (s); absorb.frequency (Hz), absorb.velocity (m/s), absorb.reflection, absorb.kappa. */
ONDULA_C_API ondula_status ondula_options_set_number(ondula_options* options, const char* name, double value,
                                                     ondula_error** error);
/* dtype: "float32", "float64"; backend: "host", "reference", "cuda",
   "cuda-sim"; cache: a folder or "off". */
ONDULA_C_API ondula_status ondula_options_set_text(ondula_options* options, const char* name,
                                                   const char* value, ondula_error** error);
/* Callbacks get `user` back; NULL removes one. They must return normally (no longjmp). */
typedef void (*ondula_log)(void* user, const char* message);
typedef int (*ondula_cancel)(void* user); /* asked every step; not 0 ends the call with ONDULA_CANCELLED */
typedef void (*ondula_progress)(void* user, int64_t shot, int64_t shots, int64_t step, int64_t steps);
ONDULA_C_API ondula_status ondula_options_set_log(ondula_options* options, ondula_log log, void* user,
                                                  ondula_error** error);
ONDULA_C_API ondula_status ondula_options_set_cancel(ondula_options* options, ondula_cancel cancel,
                                                     void* user, ondula_error** error);
ONDULA_C_API ondula_status ondula_options_set_progress(ondula_options* options, ondula_progress progress,
                                                       void* user, ondula_error** error);
ONDULA_C_API void ondula_options_free(ondula_options* options);

/* Sources: a term of the equation fed with a wavelet, whose samples are at t0 + k dt, at a position. `field`:
 * of a point source its field ("u", "v.z"); of a force or a moment rate the author's name of the vector or
 * tensor
 * ("v", "s"), or NULL for the equation's only one. */
ONDULA_C_API ondula_status ondula_source_create(const char* field, const double* position, size_t coordinates,
                                                const double* wavelet, size_t samples, ondula_source** source,
                                                ondula_error** error);
/* strength (1). */
ONDULA_C_API ondula_status ondula_source_set_number(ondula_source* source, const char* name, double value,
                                                    ondula_error** error);
/* kind: "point" (default), "force", "moment_rate"; scaling: "physical" (default), "raw"; interpolation:
 * "sinc" (default), "linear". */
ONDULA_C_API ondula_status ondula_source_set_text(ondula_source* source, const char* name, const char* value,
                                                  ondula_error** error);
/* components: a force's direction, one value an axis, as long as the force is strong; a moment rate's
 * symmetric tensor, row by row. */
ONDULA_C_API ondula_status ondula_source_set_vector(ondula_source* source, const char* name,
                                                    const double* values, size_t count, ondula_error** error);
ONDULA_C_API void ondula_source_free(ondula_source* source);

/* Shots: sources fired together, receivers in the order their traces are wanted. */
ONDULA_C_API ondula_status ondula_shot_create(ondula_shot** shot, ondula_error** error);
ONDULA_C_API ondula_status ondula_shot_add_source(ondula_shot* shot, const ondula_source* source,
                                                  ondula_error** error);
/* `interpolation`: "sinc", "linear", or NULL for sinc. */
ONDULA_C_API ondula_status ondula_shot_add_receiver(ondula_shot* shot, const char* field,
                                                    const double* position, size_t coordinates,
                                                    const char* interpolation, ondula_error** error);
/* A receiver of the strain rate along `direction` (one value an axis, of any length but 0), its field
 * "fibre". */
ONDULA_C_API ondula_status ondula_shot_add_fibre(ondula_shot* shot, const double* position,
                                                 const double* direction, size_t coordinates,
                                                 const char* interpolation, ondula_error** error);
ONDULA_C_API void ondula_shot_free(ondula_shot* shot);

/* Propagators. `equation`: the name of a built-in one, "acoustic". Compiles or loads its kernels. */
ONDULA_C_API ondula_status ondula_propagator_create(const char* equation, const ondula_grid* grid,
                                                    const ondula_options* options,
                                                    ondula_propagator** propagator, ondula_error** error);
ONDULA_C_API ondula_status ondula_propagator_set_model(ondula_propagator* propagator, const char* name,
                                                       const double* values, size_t count,
                                                       ondula_error** error);
ONDULA_C_API ondula_status ondula_propagator_set_model_constant(ondula_propagator* propagator,
                                                                const char* name, double value,
                                                                ondula_error** error);
ONDULA_C_API ondula_status ondula_propagator_set_initial(ondula_propagator* propagator, const char* name,
                                                         const double* values, size_t count,
                                                         ondula_error** error);
/* Models `count` shots; `steps`: samples of this call, or negative for the options' number. */
ONDULA_C_API ondula_status ondula_propagator_forward(ondula_propagator* propagator,
                                                     const ondula_shot* const* shots, size_t count,
                                                     int64_t steps, ondula_records** records,
                                                     ondula_error** error);
/* The state the last call left; shots of later calls start from a state that was set, at its step, which
 * makes a run in chunks the whole one, bit for bit. NULL for `state`: from t0 again. */
ONDULA_C_API ondula_status ondula_propagator_state(const ondula_propagator* propagator, ondula_state** state,
                                                   ondula_error** error);
ONDULA_C_API ondula_status ondula_propagator_set_state(ondula_propagator* propagator,
                                                       const ondula_state* state, ondula_error** error);
/* Calls `callback` at step 0, every, 2 every, ... of each shot; every = 0 removes it. */
typedef void (*ondula_step_callback)(void* user, const ondula_step* step);
ONDULA_C_API ondula_status ondula_propagator_on_step(ondula_propagator* propagator, int64_t every,
                                                     ondula_step_callback callback, void* user,
                                                     ondula_error** error);
/* Seconds a field's samples lie before the record's times (half a step for half-step fields, as a negative
 * number). */
ONDULA_C_API ondula_status ondula_propagator_time_offset(const ondula_propagator* propagator,
                                                         const char* field, double* seconds,
                                                         ondula_error** error);
ONDULA_C_API void ondula_propagator_free(ondula_propagator* propagator);

/* What a run would need; nothing is run or allocated. */
typedef struct ondula_estimate {
  double cfl_limit;             /* s */
  double dt;                    /* s, of one step */
  double fastest, slowest;      /* m/s */
  double points_per_wavelength; /* at the end of the wavelets' spectra; 0: unknown */
  int64_t points;               /* of the grid */
  int64_t padded_points;        /* with the layers */
  uint64_t device_bytes, host_bytes;
  int substeps;
  int refused; /* not 0: forward would refuse the step */
} ondula_estimate;
ONDULA_C_API ondula_status ondula_propagator_estimate(const ondula_propagator* propagator,
                                                      const ondula_shot* const* shots, size_t count,
                                                      ondula_estimate* estimate, ondula_error** error);

/* In an on_step callback: where the run is, and its fields (as many values as the grid has nodes). */
ONDULA_C_API int64_t ondula_step_shot(const ondula_step* step);
ONDULA_C_API int64_t ondula_step_number(const ondula_step* step);
ONDULA_C_API double ondula_step_time(const ondula_step* step); /* s */
ONDULA_C_API ondula_status ondula_step_field(const ondula_step* step, const char* name, double* values,
                                             size_t count, ondula_error** error);

/* Records: per shot and field, traces in the order of the shot's receivers, (receiver, time). */
ONDULA_C_API size_t ondula_records_shots(const ondula_records* records);
ONDULA_C_API ondula_status ondula_records_size(const ondula_records* records, size_t shot, const char* field,
                                               int64_t* receivers, int64_t* samples, ondula_error** error);
/* Copies the traces; `count` must be receivers times samples. */
ONDULA_C_API ondula_status ondula_records_copy(const ondula_records* records, size_t shot, const char* field,
                                               double* values, size_t count, ondula_error** error);
ONDULA_C_API void ondula_records_free(ondula_records* records);

/* States. `step`: samples of the record taken since t0. */
ONDULA_C_API int64_t ondula_state_step(const ondula_state* state);
ONDULA_C_API ondula_status ondula_state_field(const ondula_state* state, const char* name, double* values,
                                              size_t count, ondula_error** error);
ONDULA_C_API void ondula_state_free(ondula_state* state);

#ifdef __cplusplus
}
#endif

#endif
