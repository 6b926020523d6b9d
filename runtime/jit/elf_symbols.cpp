// Addresses of the library functions that kernels may call.
// SPDX-License-Identifier: MIT
#include "runtime/jit/elf_symbols.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

namespace ondula::jit {
namespace {

using Float1 = float (*)(float);
using Float2 = float (*)(float, float);
using Float3 = float (*)(float, float, float);
using Double1 = double (*)(double);
using Double2 = double (*)(double, double);
using Double3 = double (*)(double, double, double);

struct External {
  const char* name;
  void* address;
};

template <class Function>
void* address(Function function) {
  return reinterpret_cast<void*>(function);
}

// A text may name more (tan, say) and is then refused by name: a short list keeps a stray call visible.
const External externals[] = {
    {"cos", address<Double1>(::cos)},
    {"cosf", address<Float1>(::cosf)},
    {"exp", address<Double1>(::exp)},
    {"expf", address<Float1>(::expf)},
    {"fabs", address<Double1>(::fabs)},
    {"fabsf", address<Float1>(::fabsf)},
    {"floor", address<Double1>(::floor)},
    {"floorf", address<Float1>(::floorf)},
    {"fma", address<Double3>(::fma)},
    {"fmaf", address<Float3>(::fmaf)},
    {"fmax", address<Double2>(::fmax)},
    {"fmaxf", address<Float2>(::fmaxf)},
    {"fmin", address<Double2>(::fmin)},
    {"fminf", address<Float2>(::fminf)},
    {"log", address<Double1>(::log)},
    {"logf", address<Float1>(::logf)},
    {"memcpy", address<void* (*)(void*, const void*, std::size_t)>(::memcpy)},
    {"memmove", address<void* (*)(void*, const void*, std::size_t)>(::memmove)},
    {"memset", address<void* (*)(void*, int, std::size_t)>(::memset)},
    {"pow", address<Double2>(::pow)},
    {"powf", address<Float2>(::powf)},
    {"sin", address<Double1>(::sin)},
    {"sinf", address<Float1>(::sinf)},
    {"sqrt", address<Double1>(::sqrt)},
    {"sqrtf", address<Float1>(::sqrtf)},
};

}  // namespace

void* external_symbol(const std::string& name) {
  for (const External& external : externals)
    if (name == external.name) return external.address;
  return nullptr;
}

std::string external_names() {
  std::string names;
  for (const External& external : externals)
    names += (names.empty() ? "" : ", ") + std::string(external.name);
  return names;
}

}  // namespace ondula::jit
