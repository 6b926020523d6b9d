// The fixed text around generated expressions, embedded at build time from templates/*.in.
// SPDX-License-Identifier: MIT
#pragma once

namespace ondula::templates {

extern const char* const host_prelude;
extern const char* const host_live;
extern const char* const cuda_prelude;
extern const char* const cuda_points;

}  // namespace ondula::templates
