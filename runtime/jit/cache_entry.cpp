// Writes and reads the bytes of a cache entry.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cache_entry.hpp"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "compiler/error.hpp"
#include "runtime/jit/cache_key.hpp"

namespace ondula::jit {
namespace {

static_assert(std::endian::native == std::endian::little, "the header is copied as it lies in memory");

struct Header {
  std::array<char, 8> magic = {'\x89', 'O', 'N', 'D', 'K', 'E', 'R', '\n'};
  std::uint32_t format = cache_format;
  std::uint32_t reserved = 0;
  std::uint64_t metadata_size = 0;
  std::uint64_t payload_size = 0;
};
static_assert(sizeof(Header) == 32);

constexpr std::size_t checksum_size = 32;

void append(std::vector<std::byte>& bytes, const void* data, std::size_t size) {
  const auto* from = static_cast<const std::byte*>(data);
  bytes.insert(bytes.end(), from, from + size);
}

[[noreturn]] void refuse(const std::string& reason) { throw InternalError(reason); }

}  // namespace

std::vector<std::byte> encode_entry(const CacheEntry& entry) {
  const nlohmann::json metadata = {
      {"key", entry.key},           {"backend", entry.backend},   {"equation", entry.equation},
      {"source", entry.source},     {"options", entry.options},   {"architecture", entry.architecture},
      {"cpu", entry.cpu},           {"compiler", entry.compiler}, {"log", entry.log},
      {"manifest", entry.manifest}, {"created", entry.created},   {"compile_seconds", entry.compile_seconds},
  };
  // A log may quote bytes that are no UTF-8; they are replaced there, while the source is compared as it was
  // stored.
  const std::string text = metadata.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  Header header;
  header.metadata_size = text.size();
  header.payload_size = entry.payload.size();
  std::vector<std::byte> file;
  file.reserve(sizeof header + text.size() + entry.payload.size() + checksum_size);
  append(file, &header, sizeof header);
  append(file, text.data(), text.size());
  append(file, entry.payload.data(), entry.payload.size());
  const std::string checksum = hash_hex(file);
  append(file, checksum.data(), checksum.size());
  return file;
}

CacheEntry decode_entry(std::span<const std::byte> file) {
  const Header expected;
  Header header;
  if (file.size() < sizeof header + checksum_size) refuse(fmt::format("only {} bytes", file.size()));
  std::memcpy(&header, file.data(), sizeof header);
  if (header.magic != expected.magic) refuse("not a cache entry");
  if (header.format != cache_format)
    refuse(fmt::format("format {} instead of {}", header.format, cache_format));
  const std::uint64_t content = file.size() - sizeof header - checksum_size;
  if (header.metadata_size > content || header.payload_size != content - header.metadata_size)
    refuse(fmt::format("{} bytes where the header tells of {} + {}", file.size(), header.metadata_size,
                       header.payload_size));
  const auto checked = file.first(file.size() - checksum_size);
  const auto stored = file.last(checksum_size);
  if (hash_hex(checked) != std::string_view(reinterpret_cast<const char*>(stored.data()), stored.size()))
    refuse("the checksum differs");

  CacheEntry entry;
  const auto* text = reinterpret_cast<const char*>(file.data()) + sizeof header;
  try {
    const nlohmann::json metadata = nlohmann::json::parse(text, text + header.metadata_size);
    metadata.at("key").get_to(entry.key);
    metadata.at("backend").get_to(entry.backend);
    metadata.at("equation").get_to(entry.equation);
    metadata.at("source").get_to(entry.source);
    metadata.at("options").get_to(entry.options);
    metadata.at("architecture").get_to(entry.architecture);
    metadata.at("cpu").get_to(entry.cpu);
    metadata.at("compiler").get_to(entry.compiler);
    metadata.at("log").get_to(entry.log);
    metadata.at("manifest").get_to(entry.manifest);
    metadata.at("created").get_to(entry.created);
    metadata.at("compile_seconds").get_to(entry.compile_seconds);
  } catch (const nlohmann::json::exception& error) {
    refuse(fmt::format("metadata: {}", error.what()));
  }
  const auto payload = file.subspan(sizeof header + header.metadata_size, header.payload_size);
  entry.payload.assign(payload.begin(), payload.end());
  return entry;
}

}  // namespace ondula::jit
