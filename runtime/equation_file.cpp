// Compiling, keeping and loading equations' files.
// SPDX-License-Identifier: MIT
#include "runtime/equation_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "runtime/jit/cache.hpp"
#include "runtime/jit/cache_key.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/jit/dsl_headers.hpp"
#include "runtime/jit/elf_loader.hpp"

namespace ondula {
namespace {

namespace fs = std::filesystem;
using jit::ClangLibrary;

constexpr const char* section = "ondula_equations";

/// Nothing where it cannot be read.
std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || fs::is_directory(path, ignored)) return {};
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return {};
  return text;
}

std::string hash(const std::string& text) { return jit::hash_hex(std::as_bytes(std::span(text))); }

/// Where a name of Ondula's is found: in whatever this function is linked into.
void* own_library() {
  static void* const handle = [] {
    Dl_info info{};
    const bool known = dladdr(reinterpret_cast<const void*>(&own_library), &info) != 0;
    void* const library =
        known && info.dli_fname != nullptr ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : nullptr;
    return library != nullptr ? library : dlopen(nullptr, RTLD_LAZY);
  }();
  return handle;
}

bool is_own(const std::string& symbol) {
  for (const char* prefix : {"_ZN6ondula", "_ZNK6ondula", "_ZTIN6ondula", "_ZTVN6ondula", "_ZTSN6ondula"})
    if (symbol.starts_with(prefix)) return true;
  return false;
}

void* resolve(const std::string& symbol) {
  return dlsym(is_own(symbol) ? own_library() : RTLD_DEFAULT, symbol.c_str());
}

/// One file and what it takes to compile it.
class EquationFile {
 public:
  EquationFile(std::string path, const EquationFileOptions& options)
      : path_(std::move(path)), options_(options), cache_(options.cache, options.log) {
    const std::optional<std::string> text = read_text(path_);
    if (!text) throw UserError(fmt::format("equation file {}: {}", path_, why_unreadable()));
    text_ = *text;
    std::error_code ignored;
    jit::KeyBuilder key;
    key.add("equation file").add(jit::ondula_version()).add("llvm " + jit::built_clang_version());
    // Messages and includes depend on where it lies.
    key.add(path_).add(fs::canonical(path_, ignored).string()).add(text_).add(options_.arguments);
    for (const ClangLibrary::Header& header : jit::dsl_headers()) key.add(header.text);
    key_ = key.hex();
  }

  std::vector<EquationDefinition> load() {
    std::optional<jit::CacheEntry> entry = cache_.load(key_, text_);
    if (entry && !current(*entry)) entry.reset();
    if (entry) {
      try {
        return definitions(entry->payload);
      } catch (const InternalError& error) {
        cache_.discard(key_, error.what());
      }
    }
    return definitions(build());
  }

 private:
  std::string why_unreadable() const {
    std::error_code ignored;
    if (!fs::exists(path_, ignored)) return "there is no such file";
    return fs::is_directory(path_, ignored) ? "it is a folder" : "it cannot be read";
  }

  /// Whether all that it includes is as it was.
  static bool current(const jit::CacheEntry& entry) {
    const auto included = nlohmann::json::parse(entry.manifest, nullptr, false);
    if (!included.is_array()) return false;
    for (const auto& file : included) {
      const std::optional<std::string> text = read_text(file.at("path").get<std::string>());
      if (!text || hash(*text) != file.at("hash").get<std::string>()) return false;
    }
    return true;
  }

  std::vector<std::byte> build() {
    const ClangLibrary library;
    ClangLibrary::Compiled compiled = library.build(path_, text_, jit::dsl_headers(), options_.arguments);
    if (!compiled.succeeded)
      throw CompileError(fmt::format("equation file {} does not compile:\n{}", path_, compiled.log),
                         compiled.log, path_);
    if (options_.log && !compiled.log.empty()) options_.log(compiled.log);
    keep(library, compiled);
    return std::move(compiled.object);
  }

  /// Without what the compiler warned of: a file with warnings is compiled anew, and warned of again.
  void keep(const ClangLibrary& library, const ClangLibrary::Compiled& compiled) {
    if (!compiled.log.empty() || library.version() != jit::built_clang_version()) return;
    nlohmann::json included = nlohmann::json::array();
    for (const std::string& path : compiled.dependencies) {
      const std::optional<std::string> text = read_text(path);
      if (!text) return;
      included.push_back({{"path", path}, {"hash", hash(*text)}});
    }
    jit::CacheEntry entry;
    entry.key = key_;
    entry.backend = "equation";
    entry.equation = fs::path(path_).filename().string();
    entry.source = text_;
    entry.options = options_.arguments;
    entry.architecture = "x86-64";
    entry.compiler = "clang " + library.version();
    entry.manifest = included.dump();
    entry.payload = compiled.object;
    cache_.store(entry);
  }

  std::vector<EquationDefinition> definitions(const std::vector<std::byte>& object) const {
    const auto image = std::make_shared<const jit::ElfImage>(
        object,
        jit::ElfProgram{"equation file " + path_, [](const std::string& name) { return resolve(name); }});
    const std::span<std::byte> entries = image->section(section);
    std::vector<EquationDefinition> all;
    std::set<std::string> names;
    for (std::size_t at = 0; at + sizeof(void*) <= entries.size(); at += sizeof(void*)) {
      EquationDefinition (*entry)() = nullptr;
      std::memcpy(&entry, entries.data() + at, sizeof entry);
      all.push_back(entry().loaded(path_, image));
      if (!names.insert(all.back().name()).second)
        throw UserError(
            fmt::format("equation file {}: two equations are called {}", path_, all.back().name()));
    }
    if (all.empty())
      throw UserError(fmt::format(
          "equation file {}: it states no equation; write EQUATION(name, \"description\") {{ ... }}", path_));
    return all;
  }

  std::string path_;
  EquationFileOptions options_;
  jit::Cache cache_;
  std::string text_, key_;
};

/// Splits "path:NAME" where what stands behind the last colon is a name.
std::pair<std::string, std::string> split(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || text.find('/', colon) != std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

std::vector<EquationDefinition> load_equations(const std::string& path, const EquationFileOptions& options) {
  return EquationFile(path, options).load();
}

EquationDefinition load_equation(const std::string& path, const EquationFileOptions& options) {
  std::error_code ignored;
  const auto [file, name] = fs::exists(path, ignored) ? std::pair(path, std::string()) : split(path);
  const std::vector<EquationDefinition> all = load_equations(file, options);
  if (name.empty() && all.size() == 1) return all.front();
  std::vector<std::string> names;
  for (const EquationDefinition& definition : all) {
    if (definition.name() == name) return definition;
    names.push_back(definition.name());
  }
  if (name.empty())
    throw UserError(fmt::format("equation file {} states {} equations: name one, as in {}:{}; there are: {}",
                                file, all.size(), file, names.front(), fmt::join(names, ", ")));
  throw UserError(fmt::format("equation file {} states no equation \"{}\"; there are: {}", file, name,
                              fmt::join(names, ", ")));
}

bool is_equation_path(const std::string& text) {
  if (text.find('/') != std::string::npos) return true;
  const std::string path = split(text).first;
  return path.ends_with(".cpp") || path.ends_with(".cc") || path.ends_with(".cxx");
}

EquationDefinition find_equation(const std::string& name_or_path, const EquationFileOptions& options) {
  return is_equation_path(name_or_path) ? load_equation(name_or_path, options)
                                        : equations::find(name_or_path);
}

}  // namespace ondula
