// Compiling, keeping and loading equations' files.
// SPDX-License-Identifier: MIT
#include "runtime/equation_file.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "compiler/dsl/dsl.hpp"
#include "compiler/error.hpp"
#include "equations/equations.hpp"
#include "runtime/equation_examination.hpp"
#include "runtime/jit/cache.hpp"
#include "runtime/jit/cache_key.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/jit/dsl_headers.hpp"
#include "runtime/jit/elf_loader.hpp"
#include "runtime/lint/allow.hpp"
#include "runtime/lint/said.hpp"
#include "runtime/lint/wording.hpp"

namespace ondula {
namespace {

namespace fs = std::filesystem;
using jit::ClangLibrary;

constexpr const char* section = "ondula_equations";

/// Another one where findings of the same text have changed: they are kept beside what was compiled.
constexpr const char* lint_revision = "lint 1";

/// Of a file that is no equation's text: a device without end, a model.
constexpr std::size_t longest_text = std::size_t{16} << 20;

/// Nothing where it cannot be read; one byte more than the longest text where there is more.
std::optional<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || fs::is_directory(path, ignored)) return {};
  std::string text(longest_text + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return {};
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

/// Refuses what is no text.
void check_text(const std::string& path, const std::string& text) {
  if (text.size() > longest_text)
    throw UserError(
        fmt::format("equation file {}: it has more than {} MiB; is it a model?", path, longest_text >> 20));
  const std::size_t foreign = std::min(lint::find_foreign_byte(text), text.find('\0'));
  if (foreign == std::string::npos) return;
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(foreign), '\n') + 1;
  const std::size_t start = foreign == 0 ? 0 : text.rfind('\n', foreign - 1) + 1;  // npos + 1 is 0
  throw UserError(
      fmt::format("{}:{}:{}: equation file: the byte 0x{:02X} is no text in UTF-8; save the file as UTF-8",
                  path, line, foreign - start + 1, static_cast<unsigned char>(text[foreign])));
}

std::string hash(const std::string& text) { return jit::hash_hex(std::as_bytes(std::span(text))); }

/// Objects of the language that nothing but equations' files calls: named here, so that a program that links
/// the static library has them.
[[gnu::used]] dsl::Tensor (*const with_functions)(const dsl::Located&) = &dsl::sqrt;
[[gnu::used]] dsl::Tensor (*const with_stiffness)(const dsl::Stiffness&,
                                                  const dsl::Located&) = &dsl::contract;

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

/// The equations of an object that was compiled from `path`, loaded.
std::vector<EquationDefinition> definitions(const std::string& path, const std::vector<std::byte>& object) {
  const auto image = std::make_shared<const jit::ElfImage>(
      object,
      jit::ElfProgram{"equation file " + path, [](const std::string& name) { return resolve(name); }});
  const std::span<std::byte> entries = image->section(section);
  std::vector<EquationDefinition> all;
  std::set<std::string> names;
  for (std::size_t at = 0; at + sizeof(void*) <= entries.size(); at += sizeof(void*)) {
    EquationDefinition (*entry)() = nullptr;
    std::memcpy(&entry, entries.data() + at, sizeof entry);
    all.push_back(entry().loaded(path, image));
    if (!names.insert(all.back().name()).second)
      throw UserError(fmt::format("equation file {}: two equations are called {}", path, all.back().name()));
  }
  if (all.empty())
    throw UserError(fmt::format(
        "equation file {}: it states no equation; write EQUATION(name, \"description\") {{ ... }}", path));
  return all;
}

/// One file and what it takes to compile it.
class EquationFile {
 public:
  EquationFile(std::string path, const EquationFileOptions& options)
      : path_(std::move(path)), options_(options), cache_(options.cache, options.log) {
    const std::optional<std::string> text = read_text(path_);
    if (!text) throw UserError(fmt::format("equation file {}: {}", path_, why_unreadable()));
    text_ = *text;
    check_text(path_, text_);
    std::error_code ignored;
    jit::KeyBuilder key;
    key.add("equation file")
        .add(lint_revision)
        .add(jit::ondula_version())
        .add("llvm " + jit::built_clang_version());
    // Messages and includes depend on where it lies.
    key.add(path_).add(fs::canonical(path_, ignored).string()).add(text_).add(options_.arguments);
    for (const ClangLibrary::Header& header : jit::dsl_headers()) key.add(header.text);
    key_ = key.hex();
  }

  EquationExamination examine() {
    EquationExamination examined;
    examined.text = text_;
    std::optional<jit::CacheEntry> entry = cache_.load(key_, text_);
    if (entry && current(*entry)) {
      try {
        take(*entry, examined);
        return examined;
      } catch (const InternalError& error) {
        cache_.discard(key_, error.what());
      }
    }
    build(examined);
    return examined;
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

  /// What the cache has: the object, and what was found when it was made.
  void take(const jit::CacheEntry& entry, EquationExamination& examined) const {
    const auto found = nlohmann::ordered_json::parse(entry.log, nullptr, false);
    if (!found.is_array()) throw InternalError("it holds no findings");
    try {
      for (const auto& one : found) examined.findings.push_back(lint::finding_of(one));
    } catch (const nlohmann::json::exception&) {
      throw InternalError("it holds no findings");
    }
    examined.compiled = true;
    try {
      examined.load = [all = definitions(path_, entry.payload)] { return all; };
    } catch (const UserError&) {
      examined.load = [error = std::current_exception()]() -> std::vector<EquationDefinition> {
        std::rethrow_exception(error);
      };
    }
  }

  void build(EquationExamination& examined) {
    const ClangLibrary library;
    ClangLibrary::Compiled compiled = library.build(path_, text_, jit::dsl_headers(), options_.arguments);
    lint::Lines lines(path_, text_);
    lint::Worded worded = lint::worded(lint::report_of(compiled.findings), lines, vocabulary());
    examined.findings = lint::without_allowed(std::move(worded.findings), lines, text_);
    examined.more = worded.more;
    examined.log = compiled.log;
    examined.compiled = compiled.succeeded;
    if (!compiled.succeeded) return;
    keep(library, compiled, examined.findings);
    examined.load = [path = path_, object = std::move(compiled.object)] { return definitions(path, object); };
  }

  static const std::vector<std::string>& vocabulary() {
    static const std::vector<std::string> names = [] {
      std::vector<std::string> all;
      for (const ClangLibrary::Header& header : jit::dsl_headers()) {
        const std::vector<std::string> more = lint::vocabulary_of(header.text);
        all.insert(all.end(), more.begin(), more.end());
      }
      return all;
    }();
    return names;
  }

  /// Not where the compiler said something without a place.
  void keep(const ClangLibrary& library, const ClangLibrary::Compiled& compiled,
            const std::vector<lint::Finding>& findings) {
    if (!compiled.log.empty() || library.version() != jit::built_clang_version()) return;
    nlohmann::json included = nlohmann::json::array();
    for (const std::string& path : compiled.dependencies) {
      const std::optional<std::string> text = read_text(path);
      if (!text) return;
      included.push_back({{"path", path}, {"hash", hash(*text)}});
    }
    nlohmann::ordered_json found = nlohmann::ordered_json::array();
    for (const lint::Finding& finding : findings) found.push_back(lint::json_of(finding));
    jit::CacheEntry entry;
    entry.key = key_;
    entry.backend = "equation";
    entry.equation = fs::path(path_).filename().string();
    entry.source = text_;
    entry.options = options_.arguments;
    entry.architecture = "x86-64";
    entry.compiler = "clang " + library.version();
    entry.log = found.dump();
    entry.manifest = included.dump();
    entry.payload = compiled.object;
    cache_.store(entry);
  }

  std::string path_;
  EquationFileOptions options_;
  jit::Cache cache_;
  std::string text_, key_;
};

/// What the language refuses when the equation is used, with the same line.
bool is_refused_later(const lint::Finding& finding) {
  static const std::set<std::string> ids = {"unused-parameter", "unused-field", "field-never-evolves",
                                            "no-evolution"};
  return ids.contains(finding.id);
}

std::string warnings_of(const EquationExamination& examined) {
  std::string text = examined.log;
  for (const lint::Finding& finding : examined.findings)
    if (!is_refused_later(finding)) text += lint::text_of(finding);
  return text;
}

CompileError compile_error(const std::string& path, const EquationExamination& examined) {
  std::string text = examined.log;
  for (const lint::Finding& finding : examined.findings) text += lint::text_of(finding);
  if (examined.more > 0) text += fmt::format("and {} more errors\n", examined.more);
  return {fmt::format("equation file {} does not compile:\n{}", path, text), text, path};
}

/// Splits "path:NAME" where what stands behind the last colon is a name.
std::pair<std::string, std::string> split(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || text.find('/', colon) != std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

}  // namespace

EquationExamination examine_equations(const std::string& path, const EquationFileOptions& options) {
  return EquationFile(path, options).examine();
}

std::vector<EquationDefinition> load_equations(const std::string& path, const EquationFileOptions& options) {
  const EquationExamination examined = examine_equations(path, options);
  if (!examined.compiled) throw compile_error(path, examined);
  const std::string warnings = warnings_of(examined);
  if (options.log && !warnings.empty()) options.log(warnings);
  return examined.load();
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
