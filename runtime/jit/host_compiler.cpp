// Compiles host kernels once per process and once per cache.
// SPDX-License-Identifier: MIT
#include "runtime/jit/host_compiler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <memory>
#include <utility>

#include "compiler/error.hpp"
#include "runtime/environment.hpp"
#include "runtime/jit/cache_key.hpp"
#include "runtime/jit/host_options.hpp"
#include "runtime/jit/host_parts.hpp"
#include "runtime/jit/join.hpp"

namespace ondula::jit {
namespace {

constexpr const char* backend = "host";
constexpr const char* extension = ".cpp";
constexpr const char* architecture = "x86-64";

std::string describe(const Cpu& cpu) {
  return fmt::format("{} family {} model {}: {}", cpu.vendor, cpu.family, cpu.model, join(cpu.features, " "));
}

}  // namespace

HostModule::HostModule(std::span<const std::byte> objects, CompileRecord record)
    : record_(std::move(record)) {
  for (const std::span<const std::byte> object : split_parts(objects))
    images_.push_back(std::make_unique<const ElfImage>(object));
}

HostModule::HostModule(const CacheEntry& entry, CompileRecord record)
    : HostModule(std::span(entry.payload), std::move(record)) {}

void* HostModule::symbol(const std::string& name) const {
  for (const auto& image : images_) {
    if (void* address = image->symbol(name)) return address;
  }
  throw InternalError(fmt::format("the compiled kernels of '{}' hold no '{}', but {}", record_.equation, name,
                                  join(symbols(), ", ")));
}

std::vector<std::string> HostModule::symbols() const {
  std::vector<std::string> names;
  for (const auto& image : images_) {
    for (const auto& [name, address] : image->symbols()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

HostCompiler::HostCompiler(const CacheOptions& cache, Log log, const std::string& cpu_features)
    : cpu_(restrict_cpu(host_cpu(), cpu_features.empty() ? read_environment().cpu_features : cpu_features)),
      log_(std::move(log)),
      store_(backend, extension, cache, log_) {}

std::string host_key(const HostSource& source, const Cpu& cpu, const std::string& clang) {
  KeyBuilder key;
  key.add(fmt::format("format {}", cache_format)).add("ondula " + ondula_version()).add(backend);
  key.add(source.text).add(host_arguments(cpu, source.options, text_name(source.equation, extension)));
  key.add(architecture).add("llvm " + clang).add(fmt::format("parts {}", source.parts));
  // The model decides the tuning, which the arguments leave to the compiler.
  key.add(fmt::format("{} {} {}", cpu.vendor, cpu.family, cpu.model)).add(cpu.features);
  return key.hex();
}

std::string HostCompiler::key_of(const HostSource& source) const {
  return host_key(source, cpu_, built_clang_version());
}

std::shared_ptr<const HostModule> HostCompiler::compile(const HostSource& source) {
  return store_.obtain(key_of(source), source, [&] { return build(source); });
}

Built HostCompiler::build(const HostSource& source) {
  const ClangLibrary& library = clang();
  const std::string name = text_name(source.equation, extension);
  Built built;
  CacheEntry& entry = built.entry;
  entry.options = host_arguments(cpu_, source.options, name);
  entry.architecture = architecture;
  entry.cpu = describe(cpu_);
  entry.compiler = "clang " + library.version();
  std::vector<std::vector<std::byte>> objects;
  built.succeeded = true;
  for (ClangLibrary::Compiled& part : compile_parts(source, name)) {
    // A fault in what all parts share is told once.
    if (built.succeeded) entry.log = part.succeeded ? entry.log + part.log : part.log;
    built.succeeded = built.succeeded && part.succeeded;
    objects.push_back(std::move(part.object));
  }
  if (built.succeeded) entry.payload = joined_parts(objects);
  // The key names the LLVM of the build: what another one made must not stand under it.
  built.keep = library.version() == built_clang_version();
  return built;
}

std::vector<ClangLibrary::Compiled> HostCompiler::compile_parts(const HostSource& source,
                                                                const std::string& name) {
  const ClangLibrary& library = clang();
  const auto compile = [&](int part) {
    std::vector<std::string> options = source.options;
    if (source.parts > 1) options.push_back(fmt::format("-DONDULA_PART={}", part));
    return library.compile(name, source.text, host_arguments(cpu_, options, name));
  };
  std::vector<std::future<ClangLibrary::Compiled>> others;
  for (int part = 1; part < source.parts; ++part)
    others.push_back(std::async(std::launch::async, compile, part));
  std::vector<ClangLibrary::Compiled> result;
  result.push_back(compile(0));
  for (auto& other : others) result.push_back(other.get());
  return result;
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

}  // namespace ondula::jit
