// The fixed text around generated expressions, embedded at build time from templates/*.in.
// SPDX-License-Identifier: MIT
#pragma once

namespace ondula::templates {

extern const char* const host_prelude;
extern const char* const host_live;

}  // namespace ondula::templates
