// The kernel cache's policy: what is loaded, kept, warned about and removed.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cache.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

#include "compiler/error.hpp"
#include "runtime/environment.hpp"

namespace ondula::jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* extension = ".ondula";
constexpr const char* record_extension = ".tuned";
constexpr const char* failed_folder = "failed";

/// The folder where options and environment put it, and why there is none.
std::pair<fs::path, std::string> choose_directory(const CacheOptions& options,
                                                  const Environment& environment) {
  const std::string& named = options.directory.empty() ? environment.cache : options.directory;
  if (named == "off") return {};
  if (!named.empty()) return {named, ""};
  if (environment.cache_home.starts_with('/')) return {fs::path(environment.cache_home) / "ondula", ""};
  if (!environment.home.empty()) return {fs::path(environment.home) / ".cache" / "ondula", ""};
  return {"", "neither XDG_CACHE_HOME nor HOME is set"};
}

bool is_hex(const std::string& text, std::size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

constexpr std::size_t key_digits = 32;

// The folder is the user's to name, so only files named as ours are, where ours are, count.

std::string folder_of(const StoredFile& file) { return file.path.parent_path().filename().string(); }

bool has_key(const StoredFile& file) {
  const std::string stem = file.path.stem().string();
  return !file.temporary && is_hex(stem, key_digits) && folder_of(file) == stem.substr(0, 2);
}

bool is_entry(const StoredFile& file) { return has_key(file) && file.path.extension() == extension; }

bool is_record(const StoredFile& file) { return has_key(file) && file.path.extension() == record_extension; }

bool is_failed_source(const StoredFile& file) {
  const std::string extension_of_text = file.path.extension().string();
  return !file.temporary && folder_of(file) == failed_folder &&
         (extension_of_text == ".cpp" || extension_of_text == ".cu") &&
         is_hex(file.path.stem().string(), key_digits);
}

/// ".writing-PID-" and 16 hexadecimal digits, beside an entry or a failed source.
bool is_temporary(const StoredFile& file) {
  if (!file.temporary || !(is_hex(folder_of(file), 2) || folder_of(file) == failed_folder)) return false;
  const std::string name = file.path.filename().string();
  return is_hex(name.substr(name.rfind('-') + 1), 16);
}

bool is_ours(const StoredFile& file) {
  return is_temporary(file) || is_entry(file) || is_record(file) || is_failed_source(file);
}

}  // namespace

Cache::Cache(const CacheOptions& options, Log log)
    : stale_after_(options.stale_after), fault_(options.fault), log_(std::move(log)) {
  const Environment environment = read_environment();
  std::tie(directory_, no_place_) = choose_directory(options, environment);
  constexpr std::uint64_t default_limit = std::uint64_t{1} << 30;
  const std::uint64_t set = environment.cache_limit.empty()
                                ? default_limit
                                : parse_bytes(environment.cache_limit, "ONDULA_CACHE_LIMIT");
  limit_bytes_ = options.limit_bytes != 0 ? options.limit_bytes : set;
}

fs::path Cache::path_of(const std::string& key) const {
  return directory_ / key.substr(0, 2) / (key + extension);
}

fs::path Cache::record_path(const TuningSubject& subject) const {
  const std::string key = tuning_key(subject);
  return directory_ / key.substr(0, 2) / (key + record_extension);
}

void Cache::warn(const std::string& message) const {
  if (log_) log_(message);
}

void Cache::warn_once(const std::string& message) {
  if (!warned_.exchange(true))
    warn(message +
         "; compiled kernels are kept in memory only (ONDULA_CACHE names another folder, or \"off\")");
}

std::optional<std::vector<std::byte>> Cache::read(const fs::path& path) {
  if (!no_place_.empty()) warn_once("no kernel cache: " + no_place_);
  if (directory_.empty()) return std::nullopt;
  try {
    return read_whole_file(path, fault_);
  } catch (const std::exception& error) {
    warn_once(fmt::format("the kernel cache cannot be read: {}", error.what()));
  }
  return std::nullopt;
}

std::optional<CacheEntry> Cache::load(const std::string& key, const std::string& source) {
  const fs::path path = path_of(key);
  const std::optional<std::vector<std::byte>> bytes = read(path);
  if (!bytes) return std::nullopt;
  try {
    CacheEntry entry = decode_entry(*bytes);
    if (entry.key != key) throw InternalError(fmt::format("it holds the key {}", entry.key));
    if (entry.source != source) throw InternalError("it holds another source");
    mark_used(path);
    return entry;
  } catch (const InternalError& error) {
    discard(key, error.what());
    return std::nullopt;
  }
}

void Cache::discard(const std::string& key, const std::string& reason) {
  if (directory_.empty()) return;
  warn(fmt::format("damaged cache entry {}: {}; it is removed and the kernel compiled again",
                   path_of(key).string(), reason));
  std::error_code ignored;
  fs::remove(path_of(key), ignored);
}

void Cache::store(const CacheEntry& entry) {
  if (directory_.empty()) return;
  publish(path_of(entry.key), encode_entry(entry), "a kernel");
}

bool Cache::publish(const fs::path& path, std::span<const std::byte> bytes, const char* what) {
  try {
    if (bytes.size() > limit_bytes_) {
      warn_once(
          fmt::format("{} of {} bytes is over the cache's limit of {}", what, bytes.size(), limit_bytes_));
      return false;
    }
    publish_file(path, bytes, fault_);
    trim(path);
    return true;
  } catch (const std::exception& error) {
    warn_once(fmt::format("the kernel cache cannot be written: {}", error.what()));
    return false;
  }
}

std::optional<TuningRecord> Cache::load_record(const TuningSubject& subject) {
  const fs::path path = record_path(subject);
  const std::optional<std::vector<std::byte>> bytes = read(path);
  if (!bytes) return std::nullopt;
  try {
    TuningRecord record = decode_record(*bytes);
    if (record.subject != subject) throw InternalError("it is of another program, device or grid");
    mark_used(path);
    return record;
  } catch (const InternalError& error) {
    discard_record(subject, error.what());
    return std::nullopt;
  }
}

bool Cache::store_record(const TuningRecord& record) {
  if (directory_.empty()) return false;
  const std::string text = encode_record(record);
  return publish(record_path(record.subject), std::as_bytes(std::span(text)), "a record of the tuner");
}

std::vector<TuningRecord> Cache::records_of(const std::string& program) const {
  std::vector<TuningRecord> records;
  if (directory_.empty()) return records;
  for (const StoredFile& file : scan_files(directory_)) {
    if (!is_record(file)) continue;
    try {
      const auto bytes = read_whole_file(file.path, fault_);
      TuningRecord record = bytes ? decode_record(*bytes) : TuningRecord{};
      const bool own = tuning_key(record.subject) == file.path.stem().string();
      if (own && record.subject.program == program) records.push_back(std::move(record));
    } catch (const std::exception&) {
      continue;  // load_record() and verify() tell of damage
    }
  }
  return records;
}

void Cache::discard_record(const TuningSubject& subject, const std::string& reason) {
  if (directory_.empty()) return;
  warn(
      fmt::format("the tuner's record {} is of no use: {}; it is removed and kernels have the table's shapes",
                  record_path(subject).string(), reason));
  std::error_code ignored;
  fs::remove(record_path(subject), ignored);
}

void Cache::trim(const fs::path& newest) const {
  const auto now = fs::file_time_type::clock::now();
  std::error_code ignored;
  std::uint64_t total = 0;
  std::vector<StoredFile> files = scan_files(directory_);
  std::erase_if(files, [](const StoredFile& file) { return !is_ours(file); });
  std::erase_if(files, [&](const StoredFile& file) {
    if (!file.temporary) total += file.bytes;
    if (file.temporary && now - file.last_used > stale_after_) fs::remove(file.path, ignored);
    return file.temporary || file.path == newest;
  });
  std::stable_sort(files.begin(), files.end(),
                   [](const StoredFile& a, const StoredFile& b) { return a.last_used < b.last_used; });
  for (const StoredFile& file : files) {
    if (total <= limit_bytes_) break;
    if (fs::remove(file.path, ignored)) total -= file.bytes;
  }
}

std::string Cache::save_failed_source(const std::string& key, const std::string& source,
                                      const std::string& extension_of_text) {
  const auto bytes = std::as_bytes(std::span(source));
  fs::path path = directory_.empty() ? fs::path() : directory_ / failed_folder / (key + extension_of_text);
  try {
    if (!path.empty()) publish_file(path, bytes, fault_);
  } catch (const std::exception&) {
    path.clear();  // the compile error is what the caller has to hear of; another place will do
  }
  if (!path.empty()) return path.string();
  std::string name =
      (fs::path(read_environment().temporary) / ("ondula-XXXXXX" + extension_of_text)).string();
  const int descriptor = ::mkstemps(name.data(), static_cast<int>(extension_of_text.size()));
  if (descriptor < 0) return "";
  const bool written =
      ::write(descriptor, source.data(), source.size()) == static_cast<ssize_t>(source.size());
  const bool closed = ::close(descriptor) == 0;
  return written && closed ? name : "";
}

std::vector<CacheListing> Cache::list() const {
  std::vector<CacheListing> listings;
  if (directory_.empty()) return listings;
  for (const StoredFile& file : scan_files(directory_)) {
    if (!is_entry(file) && !is_record(file)) continue;
    CacheListing listing;
    listing.key = file.path.stem().string();
    listing.path = file.path;
    listing.bytes = file.bytes;
    listing.last_used = file.last_used;
    try {
      const auto bytes = read_whole_file(file.path, fault_);
      if (bytes && is_entry(file)) listing.entry = decode_entry(*bytes);
      if (bytes && is_record(file)) listing.record = decode_record(*bytes);
      if ((listing.entry && listing.entry->key != listing.key) ||
          (listing.record && tuning_key(listing.record->subject) != listing.key))
        throw InternalError("it holds another key");
    } catch (const std::exception& error) {
      listing.entry.reset();
      listing.record.reset();
      listing.damage = error.what();
    }
    listings.push_back(std::move(listing));
  }
  return listings;
}

std::vector<CacheListing> Cache::verify() {
  std::vector<CacheListing> damaged = list();
  std::erase_if(damaged, [](const CacheListing& listing) { return listing.damage.empty(); });
  std::error_code ignored;
  for (const CacheListing& listing : damaged) fs::remove(listing.path, ignored);
  return damaged;
}

std::size_t Cache::clear() {
  if (directory_.empty()) return 0;
  std::size_t removed = 0;
  std::error_code ignored;
  for (const StoredFile& file : scan_files(directory_))
    if (is_ours(file) && fs::remove(file.path, ignored)) ++removed;
  return removed;
}

std::uint64_t parse_bytes(const std::string& text, const std::string& what) {
  constexpr std::array<std::pair<std::string_view, double>, 8> units = {{{"", 1},
                                                                         {"B", 1},
                                                                         {"kB", 1e3},
                                                                         {"MB", 1e6},
                                                                         {"GB", 1e9},
                                                                         {"KiB", 1024.0},
                                                                         {"MiB", 1048576.0},
                                                                         {"GiB", 1073741824.0}}};
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  std::string_view unit(end);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  const auto* found =
      std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == unit; });
  const double bytes = found == units.end() ? -1 : number * found->second;
  if (end == text.c_str() || !std::isfinite(bytes) || bytes < 0 || bytes > 9e18)
    throw UserError(
        fmt::format("{}: '{}' is no size; write a number with B, kB, MB, GB, KiB, MiB or GiB", what, text));
  return static_cast<std::uint64_t>(bytes);
}

}  // namespace ondula::jit
