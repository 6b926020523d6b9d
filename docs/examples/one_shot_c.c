/* The same shot as one_shot.cpp from C: prints the same line, writes the same file. */
/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ondula/ondula.h>

enum { NZ = 101, NX = 201, STEPS = 600, RECEIVERS = 96 };

static const double pi = 3.14159265358979323846;
static const double dt = 1e-3; /* s */

/* Prints what went wrong, and says whether something did. By address: a call and the error it sets are
 * arguments of one call here, evaluated in any order. */
static int failed(ondula_status status, ondula_error** error) {
  if (status == ONDULA_DONE) return 0;
  fprintf(stderr, "status %d: %s\n%s\n", (int)status, ondula_error_message(*error), ondula_error_log(*error));
  ondula_error_free(*error);
  *error = NULL;
  return 1;
}

static void warn(void* user, const char* message) { fprintf((FILE*)user, "warning: %s\n", message); }

/* FNV-1a over the samples' bytes. */
static uint64_t digest(const double* samples, size_t count) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i) {
    uint64_t bits = 0;
    memcpy(&bits, &samples[i], sizeof bits);
    for (int byte = 0; byte < 8; ++byte) hash = (hash ^ ((bits >> (8 * byte)) & 0xffu)) * 0x100000001b3u;
  }
  return hash;
}

/* A source near the surface and a line of receivers; NULL where a call failed. */
static ondula_shot* experiment(void) {
  ondula_error* error = NULL;
  double wavelet[STEPS];
  for (int n = 0; n < STEPS; ++n) {
    const double a = pi * 12 * (n * dt - 1.2 / 12);
    wavelet[n] = (1 - 2 * a * a) * exp(-a * a);
  }
  const double at[2] = {20, 1000};
  ondula_source* source = NULL;
  ondula_shot* shot = NULL;
  int bad = failed(ondula_source_create("u", at, 2, wavelet, STEPS, &source, &error), &error) ||
            failed(ondula_shot_create(&shot, &error), &error) ||
            failed(ondula_shot_add_source(shot, source, &error), &error);
  for (int r = 0; r < RECEIVERS && !bad; ++r) {
    const double position[2] = {10, 52.5 + 20.0 * r};
    bad = failed(ondula_shot_add_receiver(shot, "u", position, 2, NULL, &error), &error);
  }
  ondula_source_free(source);
  if (!bad) return shot;
  ondula_shot_free(shot);
  return NULL;
}

/* A propagator with its model; NULL where a call failed. */
static ondula_propagator* prepare(void) {
  ondula_error* error = NULL;
  const int64_t shape[2] = {NZ, NX};
  const double spacing[2] = {10, 10};
  static double vp[NZ * NX];
  for (int i = 0; i < NZ * NX; ++i) vp[i] = i < NZ * NX / 2 ? 1500 : 2500;
  ondula_grid* grid = NULL;
  ondula_options* options = NULL;
  ondula_propagator* propagator = NULL;
  const int bad = failed(ondula_grid_create("zx", shape, spacing, NULL, &grid, &error), &error) ||
                  failed(ondula_grid_set_face(grid, "z-", ONDULA_FACE_FREE_SURFACE, 0, &error), &error) ||
                  failed(ondula_options_create(dt, STEPS, &options, &error), &error) ||
                  failed(ondula_options_set_log(options, warn, stderr, &error), &error) ||
                  failed(ondula_propagator_create("acoustic", grid, options, &propagator, &error), &error) ||
                  failed(ondula_propagator_set_model(propagator, "vp", vp, NZ * NX, &error), &error);
  ondula_grid_free(grid);
  ondula_options_free(options);
  if (!bad) return propagator;
  ondula_propagator_free(propagator);
  return NULL;
}

static int write_raw(const char* path, const double* samples, size_t count) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) return 1;
  const size_t written = fwrite(samples, sizeof *samples, count, file);
  return fclose(file) != 0 || written != count;
}

static int report(const ondula_records* records, const char* output) {
  ondula_error* error = NULL;
  int64_t receivers = 0, samples = 0;
  if (failed(ondula_records_size(records, 0, "u", &receivers, &samples, &error), &error)) return 1;
  const size_t count = (size_t)(receivers * samples);
  double* traces = malloc(count * sizeof *traces);
  int bad = traces == NULL || failed(ondula_records_copy(records, 0, "u", traces, count, &error), &error);
  if (!bad) {
    double largest = 0;
    for (size_t i = 0; i < count; ++i) largest = fmax(largest, fabs(traces[i]));
    printf("Ondula %s: %lld traces of %lld samples, largest %.6g Pa, digest %016llx\n", ondula_version(),
           (long long)receivers, (long long)samples, largest, (unsigned long long)digest(traces, count));
    bad = output != NULL && write_raw(output, traces, count);
  }
  free(traces);
  return bad;
}

int main(int argc, char** argv) {
  ondula_error* error = NULL;
  ondula_records* records = NULL;
  ondula_shot* shot = experiment();
  ondula_propagator* propagator = prepare();
  int bad = shot == NULL || propagator == NULL;
  if (!bad) {
    const ondula_shot* shots[1] = {shot};
    bad = failed(ondula_propagator_forward(propagator, shots, 1, -1, &records, &error), &error) ||
          report(records, argc > 1 ? argv[1] : NULL);
  }
  ondula_records_free(records);
  ondula_propagator_free(propagator);
  ondula_shot_free(shot);
  return bad;
}
