// Compiles host kernels once per process and once per cache.
// SPDX-License-Identifier: MIT
#include "runtime/jit/host_compiler.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "compiler/error.hpp"
#include "runtime/environment.hpp"
#include "runtime/jit/cache_key.hpp"
#include "runtime/jit/compile_failure.hpp"
#include "runtime/jit/host_options.hpp"
#include "runtime/jit/join.hpp"

namespace ondula::jit {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* backend = "host";
constexpr const char* architecture = "x86-64";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// The text's name in diagnostics and in the object: the equation's, reduced to what a file name may hold.
std::string text_name(const std::string& equation) {
  std::string name;
  for (char c : equation) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    name += plain ? c : '_';
  }
  return (name.empty() ? "kernels" : name) + ".cpp";
}

std::string describe(const Cpu& cpu) {
  return fmt::format("{} family {} model {}: {}", cpu.vendor, cpu.family, cpu.model, join(cpu.features, " "));
}

}  // namespace

HostModule::HostModule(std::span<const std::byte> object, CompileRecord record)
    : image_(object), record_(std::move(record)) {}

void* HostModule::symbol(const std::string& name) const {
  void* address = image_.symbol(name);
  if (address == nullptr)
    throw InternalError(fmt::format("the compiled kernels of '{}' hold no '{}', but {}", record_.equation,
                                    name, join(symbols(), ", ")));
  return address;
}

std::vector<std::string> HostModule::symbols() const {
  std::vector<std::string> names;
  for (const auto& [name, address] : image_.symbols()) names.push_back(name);
  return names;
}

HostCompiler::HostCompiler(const CacheOptions& cache, Log log, const std::string& cpu_features)
    : cpu_(restrict_cpu(host_cpu(), cpu_features.empty() ? read_environment().cpu_features : cpu_features)),
      log_(std::move(log)),
      cache_(cache, log_) {}

std::string HostCompiler::key_of(const HostSource& source) const {
  KeyBuilder key;
  key.add(fmt::format("format {}", cache_format)).add("ondula " + ondula_version()).add(backend);
  key.add(source.text).add(host_arguments(cpu_, source.options, text_name(source.equation)));
  key.add(architecture).add("llvm " + built_clang_version());
  // The model decides the tuning, which the arguments leave to the compiler.
  key.add(fmt::format("{} {} {}", cpu_.vendor, cpu_.family, cpu_.model)).add(cpu_.features);
  return key.hex();
}

std::shared_ptr<const HostModule> HostCompiler::compile(const HostSource& source) {
  const Clock::time_point start = Clock::now();
  const std::string key = key_of(source);
  std::promise<Module> promise;
  std::shared_future<Module> earlier;
  {
    const std::scoped_lock lock(mutex_);
    const auto [entry, added] = modules_.try_emplace(key);
    if (added) {
      entry->second = promise.get_future().share();
    } else {
      earlier = entry->second;
    }
  }
  if (earlier.valid()) {
    Module module = earlier.get();
    CompileRecord record = module->record();
    record.cache_hit = record.clang_loaded = false;
    record.in_process = true;
    record.seconds = seconds_since(start);
    remember(record);
    return module;
  }
  try {
    Module module = load_or_compile(source, key);
    promise.set_value(module);
    remember(module->record());
    return module;
  } catch (const CompileError&) {
    promise.set_exception(std::current_exception());
    throw;
  } catch (...) {
    // A missing module or full memory may pass; only a wrong text stays wrong.
    {
      const std::scoped_lock lock(mutex_);
      modules_.erase(key);
    }
    promise.set_exception(std::current_exception());
    throw;
  }
}

HostCompiler::Module HostCompiler::load_or_compile(const HostSource& source, const std::string& key) {
  Module module = load(source, key);
  return module ? module : build(source, key);
}

HostCompiler::Module HostCompiler::load(const HostSource& source, const std::string& key) {
  const Clock::time_point start = Clock::now();
  const std::optional<CacheEntry> entry = cache_.load(key, source.text);
  if (!entry) return nullptr;
  CompileRecord record;
  record.key = key;
  record.equation = source.equation;
  record.cache_hit = true;
  record.text_bytes = source.text.size();
  record.payload_bytes = entry->payload.size();
  try {
    auto module = std::make_shared<HostModule>(entry->payload, record);
    module->record_.seconds = seconds_since(start);
    return module;
  } catch (const InternalError& error) {
    cache_.discard(key, error.what());
    return nullptr;
  }
}

HostCompiler::Module HostCompiler::build(const HostSource& source, const std::string& key) {
  const Clock::time_point start = Clock::now();
  const ClangLibrary& library = clang();
  const std::string name = text_name(source.equation);
  CacheEntry entry;
  entry.options = host_arguments(cpu_, source.options, name);
  ClangLibrary::Compiled compiled = library.compile(name, source.text, entry.options);
  if (!compiled.succeeded) {
    const CompileFailure failure = {
        source.equation, source.text,  name,
        source.options,  compiled.log, cache_.save_failed_source(key, source.text)};
    throw CompileError(describe_failure(failure), failure.log, failure.saved_path);
  }
  CompileRecord record;
  record.key = key;
  record.equation = source.equation;
  record.clang_loaded = true;
  record.text_bytes = source.text.size();
  record.payload_bytes = compiled.object.size();
  auto module = std::make_shared<HostModule>(compiled.object, record);
  module->record_.seconds = seconds_since(start);

  entry.key = key;
  entry.backend = backend;
  entry.equation = source.equation;
  entry.source = source.text;
  entry.architecture = architecture;
  entry.cpu = describe(cpu_);
  entry.compiler = "clang " + library.version();
  entry.log = compiled.log;
  entry.manifest = source.manifest;
  entry.created = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  entry.compile_seconds = module->record_.seconds;
  entry.payload = std::move(compiled.object);
  // The key names the LLVM of the build: what another one made must not stand under it.
  if (library.version() == built_clang_version()) cache_.store(entry);
  return module;
}

const ClangLibrary& HostCompiler::clang() {
  std::call_once(clang_once_, [this] {
    clang_ = std::make_unique<ClangLibrary>();
    if (clang_->version() != built_clang_version() && log_)
      log_(fmt::format(
          "the Clang module {} loaded LLVM {}, Ondula was built with {}: its kernels are not cached on disk; "
          "build Ondula again",
          clang_->path(), clang_->version(), built_clang_version()));
  });
  return *clang_;
}

void HostCompiler::remember(const CompileRecord& record) {
  const std::scoped_lock lock(mutex_);
  history_.push_back(record);
}

std::vector<CompileRecord> HostCompiler::history() const {
  const std::scoped_lock lock(mutex_);
  return history_;
}

}  // namespace ondula::jit
