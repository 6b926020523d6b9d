// The fixed text around generated expressions, embedded at build time from templates/*.in.
// SPDX-License-Identifier: MIT
#pragma once

namespace ondula::templates {

extern const char* const host_prelude;
extern const char* const host_live;
extern const char* const cuda_prelude;
extern const char* const cuda_points;
extern const char* const sim_prelude;
extern const char* const standalone_grid;
extern const char* const standalone_host;
extern const char* const standalone_tiles;
extern const char* const standalone_blocks;
extern const char* const standalone_ring;
extern const char* const standalone_images_host;
extern const char* const standalone_images_cuda;
extern const char* const standalone_ring_host;
extern const char* const standalone_ring_cuda;
extern const char* const standalone_reversal;
extern const char* const standalone_reverse;
extern const char* const standalone_reverse_check;
extern const char* const standalone_chain;
extern const char* const standalone_run;
extern const char* const standalone_gradient_case;
extern const char* const standalone_gradient_example;
extern const char* const standalone_memory_host;
extern const char* const standalone_memory_cuda;
extern const char* const standalone_gradient;
extern const char* const standalone_gradient_check;
extern const char* const standalone_points_host;
extern const char* const standalone_points_cuda;
extern const char* const standalone_prelude;
extern const char* const standalone_case;
extern const char* const standalone_example_host;
extern const char* const standalone_example_cuda;
extern const char* const standalone_readme_host;
extern const char* const standalone_readme_cuda;
extern const char* const standalone_cmake_host;
extern const char* const standalone_cmake_cuda;
extern const char* const new_equation;  // of `ondula new`, with @NAME@

}  // namespace ondula::templates
