// `ondula cache`: lists, checks and clears the compiled kernels.
// SPDX-License-Identifier: MIT
#include "tools/cache.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "runtime/jit/cache.hpp"
#include "tools/check_failed.hpp"
#include "tools/words.hpp"

namespace ondula::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string tuned_for(const jit::TuningRecord& record) {
  return fmt::format("{}, {}", record.subject.device, record.subject.grid);
}

std::string line_of(const jit::CacheListing& listing) {
  if (listing.entry)
    return fmt::format("{}  {}  {}", listing.entry->created, listing.entry->backend, listing.entry->equation);
  if (!listing.record) return "damaged: " + listing.damage;
  return fmt::format("{}  tuned  {}, for {}", listing.record->created, listing.record->equation,
                     tuned_for(*listing.record));
}

Json describe(const jit::CacheListing& listing) {
  Json json{{"key", listing.key}, {"path", listing.path.string()}, {"bytes", listing.bytes}};
  if (listing.entry) {
    json["equation"] = listing.entry->equation;
    json["backend"] = listing.entry->backend;
    json["created"] = listing.entry->created;
    json["compiler"] = listing.entry->compiler;
    json["cpu"] = listing.entry->cpu;
    json["compile_seconds"] = listing.entry->compile_seconds;
  } else if (listing.record) {
    json["equation"] = listing.record->equation;
    json["tuned_for"] = tuned_for(*listing.record);
    json["created"] = listing.record->created;
  } else {
    json["damage"] = listing.damage;
  }
  return json;
}

void answer(const CacheCommand& command, const jit::Cache& cache,
            const std::vector<jit::CacheListing>& entries, const char* word) {
  double bytes = 0;
  Json list = Json::array();
  for (const jit::CacheListing& listing : entries) {
    bytes += static_cast<double>(listing.bytes);
    list.push_back(describe(listing));
    if (command.voice.json) continue;
    fmt::print("{}  {:>9}  {}\n", listing.key, bytes_text(static_cast<double>(listing.bytes)),
               line_of(listing));
  }
  if (command.voice.json) {
    fmt::print(
        "{}\n",
        Json{{"path", cache.directory().string()}, {"limit_bytes", cache.limit_bytes()}, {word, list}}.dump(
            2));
  } else {
    fmt::print("{} {}, {} of at most {}, in {}\n", entries.size(), word, bytes_text(bytes),
               bytes_text(static_cast<double>(cache.limit_bytes())), cache.directory().string());
  }
}

void clear(const CacheCommand& command, jit::Cache& cache) {
  const std::size_t removed = cache.clear();
  if (command.voice.json) {
    fmt::print("{}\n", Json{{"path", cache.directory().string()}, {"removed", removed}}.dump(2));
  } else {
    fmt::print("{} files removed from {}\n", removed, cache.directory().string());
  }
}

void verify(const CacheCommand& command, jit::Cache& cache) {
  const std::size_t before = cache.list().size();
  const std::vector<jit::CacheListing> removed = cache.verify();
  if (!removed.empty() || command.voice.json) answer(command, cache, removed, "damaged and removed");
  if (!command.voice.json) fmt::print("{} entries are sound\n", before - removed.size());
  if (!removed.empty())
    throw CheckFailed(fmt::format("{} entries of the cache were damaged; they are removed", removed.size()));
}

}  // namespace

CLI::App* add_cache_command(CLI::App& program, CacheCommand& command) {
  CLI::App* cache = program.add_subcommand("cache", "the compiled kernels on disk");
  cache->require_subcommand(1);
  using Action = CacheCommand::Action;
  const std::vector<std::tuple<const char*, Action, const char*>> actions = {
      {"list", Action::list, "every entry: key, size, when, equation"},
      {"verify", Action::verify, "read every entry, remove damaged ones; status 1 if there were any"},
      {"clear", Action::clear, "remove every file of the cache"},
      {"path", Action::path, "print its folder"}};
  for (const auto& [name, action, what] : actions) {
    CLI::App* sub = cache->add_subcommand(name, what);
    add_json_option(*sub, command.voice);
    sub->callback([&command, chosen = action] { command.action = chosen; });
  }
  return cache;
}

void manage_cache(const CacheCommand& command) {
  jit::Cache cache({}, [](const std::string& text) { fmt::print(stderr, "warning: {}\n", text); });
  switch (command.action) {
    case CacheCommand::Action::list:
      answer(command, cache, cache.list(), "entries");
      break;
    case CacheCommand::Action::verify:
      verify(command, cache);
      break;
    case CacheCommand::Action::clear:
      clear(command, cache);
      break;
    case CacheCommand::Action::path:
      if (command.voice.json)
        fmt::print("{}\n", Json{{"path", cache.directory().string()}}.dump(2));
      else
        fmt::print("{}\n", cache.directory().empty() ? "off" : cache.directory().string());
      break;
  }
}

}  // namespace ondula::tools
