// Strict reading of JSON: every complaint names the path, what was found and what is allowed.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ondula::io {

/// Parses strict JSON. Throws UserError with line and column on a syntax error, and with the path on a key
/// that an object holds twice.
nlohmann::ordered_json parse_strict(std::string_view text);

/// What a number may be: low <= value <= high, the bounds themselves left out where "open"; `unit` is for
/// messages.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;
  std::string unit;
};

/// The range in words: "a number > 0, in s".
std::string describe(const Range& range);
/// Any finite number.
Range any_number(std::string unit = "");
/// A number > 0.
Range positive_number(std::string unit = "");
/// A number >= 0.
Range nonnegative_number(std::string unit = "");

/// A JSON value and the path that leads to it ("sources[2].at.z"). It refers to the document, which must
/// outlive it.
class Node {
 public:
  Node(const nlohmann::ordered_json& value, std::string path) : value_(&value), path_(std::move(path)) {}

  const nlohmann::ordered_json& value() const noexcept { return *value_; }
  const std::string& path() const noexcept { return path_; }
  /// The path of a member, whether it exists or not.
  std::string path_of(std::string_view key) const;
  /// The value as JSON text, shortened.
  std::string found() const;

  /// Throws "PATH: found VALUE; allowed: ALLOWED".
  [[noreturn]] void fail(const std::string& allowed) const;
  /// Throws "PATH: MESSAGE".
  [[noreturn]] void refuse(const std::string& message) const;

  /// An object with no other keys than `keys`; an unknown one is refused with the nearest known one and the
  /// list.
  void only(const std::vector<std::string>& keys) const;
  /// The same, and exactly one of `choices` (all of them in `keys`) is present; returns it.
  std::string one_of(const std::vector<std::string>& choices, const std::vector<std::string>& keys) const;
  bool has(std::string_view key) const;
  std::optional<Node> find(std::string_view key) const;
  /// A member that must be there; `meaning` says in the complaint what it holds.
  Node at(std::string_view key, std::string_view meaning) const;
  std::vector<std::pair<std::string, Node>> members() const;
  std::vector<Node> items() const;

  /// A finite number within the range.
  double number(const Range& range) const;
  /// A whole number within [low, high]; 3.0 counts as 3.
  std::int64_t integer(std::int64_t low, std::int64_t high, std::string_view unit = "") const;
  bool boolean() const;
  std::string text() const;
  /// One of the words; a misspelt one is answered with the nearest.
  std::string choice(const std::vector<std::string>& words) const;

 private:
  const nlohmann::ordered_json* value_;
  std::string path_;
};

}  // namespace ondula::io
