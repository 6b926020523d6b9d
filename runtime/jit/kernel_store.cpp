// The parts of KernelStore that are the same for every kind of module.
// SPDX-License-Identifier: MIT
#include "runtime/jit/kernel_store.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "runtime/jit/compile_failure.hpp"

namespace ondula::jit {

std::string text_name(const std::string& equation, const std::string& extension) {
  std::string name;
  for (char c : equation) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    name += plain ? c : '_';
  }
  return (name.empty() ? "kernels" : name) + extension;
}

CompileRecord record_of(const std::string& key, const KernelSource& source, std::size_t payload_bytes) {
  CompileRecord record;
  record.key = key;
  record.equation = source.equation;
  record.text_bytes = source.text.size();
  record.payload_bytes = payload_bytes;
  return record;
}

void complete_entry(CacheEntry& entry, const std::string& backend, const std::string& key,
                    const KernelSource& source, double seconds) {
  entry.key = key;
  entry.backend = backend;
  entry.equation = source.equation;
  entry.source = source.text;
  entry.manifest = source.manifest;
  entry.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  entry.compile_seconds = seconds;
}

void throw_failure(Cache& cache, const std::string& backend, const std::string& extension,
                   const std::string& key, const KernelSource& source, const std::string& log) {
  CompileFailure failure;
  failure.backend = backend;
  failure.equation = source.equation;
  failure.source = source.text;
  failure.name = text_name(source.equation, extension);
  failure.options = source.options;
  failure.log = log;
  failure.saved_path = cache.save_failed_source(key, source.text, extension);
  throw CompileError(describe_failure(failure), failure.log, failure.saved_path);
}

}  // namespace ondula::jit
