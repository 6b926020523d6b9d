// Declares the entry points of the stand-in's NVRTC.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace ondula::sim::driver {

/// The toolkit that it pretends to belong to.
inline constexpr int nvrtc_major = 13, nvrtc_minor = 0;

}  // namespace ondula::sim::driver

extern "C" {
#pragma GCC visibility push(default)
int nvrtcVersion(int* major, int* minor);
int nvrtcGetNumSupportedArchs(int* count);
int nvrtcGetSupportedArchs(int* architectures);
const char* nvrtcGetErrorString(int result);
int nvrtcCreateProgram(void** program, const char* text, const char* name, int headers,
                       const char* const* sources, const char* const* names);
int nvrtcDestroyProgram(void** program);
int nvrtcCompileProgram(void* program, int count, const char* const* options);
int nvrtcGetProgramLogSize(void* program, std::size_t* bytes);
int nvrtcGetProgramLog(void* program, char* log);
int nvrtcGetCUBINSize(void* program, std::size_t* bytes);
int nvrtcGetCUBIN(void* program, char* cubin);
int nvrtcGetPTXSize(void* program, std::size_t* bytes);
int nvrtcGetPTX(void* program, char* ptx);
#pragma GCC visibility pop
}
