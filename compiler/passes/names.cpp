// Identifiers of generated text.
// SPDX-License-Identifier: MIT
#include "compiler/passes/names.hpp"

#include <algorithm>
#include <set>

namespace ondula::passes {
namespace {

const std::set<std::string>& reserved() {
  static const std::set<std::string> names = {
      // C++ keywords and alternative tokens
      "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case",
      "catch", "char", "char8_t", "char16_t", "char32_t", "class", "compl", "concept", "const", "consteval",
      "constexpr", "constinit", "const_cast", "continue", "co_await", "co_return", "co_yield", "decltype",
      "default", "delete", "do", "double", "dynamic_cast", "else", "enum", "explicit", "export", "extern",
      "false", "float", "for", "friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new",
      "noexcept", "not", "not_eq", "nullptr", "operator", "or", "or_eq", "private", "protected", "public",
      "register", "reinterpret_cast", "requires", "return", "short", "signed", "sizeof", "static",
      "static_assert", "static_cast", "struct", "switch", "template", "this", "thread_local", "throw", "true",
      "try", "typedef", "typeid", "typename", "union", "unsigned", "using", "virtual", "void", "volatile",
      "wchar_t", "while", "xor", "xor_eq", "restrict", "final", "override", "import", "module",
      // CUDA
      "blockIdx", "blockDim", "threadIdx", "gridDim", "warpSize", "dim3", "half", "asm_volatile", "planes",
      "high", "side", "within", "i0", "shot",
      // the emitters' own
      "real", "index", "ask", "ahead", "first_ahead", "last_ahead", "lives", "checked", "edges", "kept",
      "stored", "at", "from", "until", "arrays", "scalars", "n", "tile", "begin", "first", "last", "earlier",
      "lanes", "loose", "get", "put", "keep", "near", "tap", "wide", "count", "rows", "along", "value",
      "begin_low", "end_low", "begin_middle", "end_middle", "begin_high", "end_high", "later", "end", "row",
      "i", "z", "y", "x", "fma", "sqrt", "exp", "sin", "cos", "main", "linux", "unix", "errno", "assert"};
  return names;
}

/// t0, w12, c3, q1: letters the passes number.
bool numbered(const std::string& name) {
  if (name.size() < 2 || std::string("twcnq").find(name.front()) == std::string::npos) return false;
  return std::all_of(name.begin() + 1, name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool ends_with(const std::string& name, const std::string& tail) {
  return name.size() > tail.size() && name.compare(name.size() - tail.size(), tail.size(), tail) == 0;
}

/// Profiles, strides, the bounds and values of CUDA kernels, and the macros of the prelude.
bool starts_ours(const std::string& name) {
  for (const char* head : {"a_", "b_", "k_", "dk_", "s_", "ONDULA_", "begin_", "end_", "strip_", "apron_",
                           "close_", "near_", "live_", "new_", "j_", "first_", "last_"}) {
    if (name.starts_with(head)) return true;
  }
  return false;
}

}  // namespace

std::string identifier(const std::string& name) {
  std::string result = name;
  std::replace(result.begin(), result.end(), '.', '_');
  const bool component = name.find('.') != std::string::npos;
  // "_next", "_lo", "_hi", "_half", "_before", "_here", "_after" are ours to add; an author's name that ends
  // so must not meet another's with it added.
  const bool ours = ends_with(result, "_next") || ends_with(result, "_lo") || ends_with(result, "_hi") ||
                    ends_with(result, "_half") || ends_with(result, "_before") ||
                    ends_with(result, "_here") || ends_with(result, "_after") || starts_ours(result);
  // Components are named after axes, so of ours they can only meet profiles (a_z), strides (s_z, s_NAME_z).
  const bool plain_tensor = result.starts_with("s_") && result.size() == 4;
  if (reserved().contains(result) || numbered(result) ||
      (component ? starts_ours(result) && !plain_tensor : ours))
    result += "_";
  return result;
}

}  // namespace ondula::passes
