// Strict reading of JSON: every complaint names the path, what was found and what is allowed.
// SPDX-License-Identifier: MIT
#include "runtime/io/job_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "compiler/error.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

using Json = nlohmann::ordered_json;

std::string join_path(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : fmt::format("{}.{}", path, key);
}

/// Reads the events of a document to find keys that an object holds twice, which a JSON tree cannot show.
class DuplicateCheck final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(false); }
  bool start_array(std::size_t) override { return open(true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (level.keys.insert(name).second) return true;
    throw UserError(fmt::format("{}: the key stands twice in this object; keep one", path()));
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    position_ = position;
    message_ = error.what();
    return false;
  }

  std::size_t position() const { return position_; }
  const std::string& message() const { return message_; }

 private:
  struct Level {
    bool array = false;
    std::int64_t index = 0;
    std::string key;
    std::set<std::string> keys;
  };

  bool value() {
    if (!levels_.empty()) ++levels_.back().index;
    return true;
  }
  bool open(bool array) {
    levels_.push_back(Level{array, 0, {}, {}});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return value();
  }
  std::string path() const {
    std::string text;
    for (const Level& level : levels_) {
      text = level.array ? fmt::format("{}[{}]", text, level.index) : join_path(text, level.key);
    }
    return text;
  }

  std::vector<Level> levels_;
  std::size_t position_ = 0;
  std::string message_;
};

/// The part of nlohmann's message after its own position, which we give as line and column.
std::string reason_of(const std::string& message) {
  for (const std::string_view mark : {": syntax error ", "] "}) {
    const std::size_t at = message.find(mark);
    if (at != std::string::npos) return message.substr(at + 2);
  }
  return message;
}

std::string plural_unit(std::string_view unit) { return unit.empty() ? "" : fmt::format(", in {}", unit); }

}  // namespace

std::string describe(const Range& range) {
  const bool low = std::isfinite(range.low);
  const bool high = std::isfinite(range.high);
  const std::string unit = plural_unit(range.unit);
  const char* above = range.low_open ? ">" : ">=";
  const char* below = range.high_open ? "<" : "<=";
  if (low && high)
    return fmt::format("a number {} {:g} and {} {:g}{}", above, range.low, below, range.high, unit);
  if (low) return fmt::format("a number {} {:g}{}", above, range.low, unit);
  if (high) return fmt::format("a number {} {:g}{}", below, range.high, unit);
  return "a number" + unit;
}

nlohmann::ordered_json parse_strict(std::string_view text) {
  DuplicateCheck check;
  if (!Json::sax_parse(text.begin(), text.end(), &check)) {
    const std::size_t end = std::min(check.position() == 0 ? 0 : check.position() - 1, text.size());
    const std::string_view before = text.substr(0, end);
    const auto line = 1 + std::count(before.begin(), before.end(), '\n');
    const std::size_t start = before.rfind('\n');
    const std::size_t column = start == std::string_view::npos ? end + 1 : end - start;
    throw UserError(
        fmt::format("line {}, column {}: not valid JSON: {}", line, column, reason_of(check.message())));
  }
  return Json::parse(text.begin(), text.end());
}

Range any_number(std::string unit) {
  Range range;
  range.unit = std::move(unit);
  return range;
}

Range positive_number(std::string unit) {
  Range range = any_number(std::move(unit));
  range.low = 0;
  range.low_open = true;
  return range;
}

Range nonnegative_number(std::string unit) {
  Range range = any_number(std::move(unit));
  range.low = 0;
  return range;
}

std::string Node::path_of(std::string_view key) const { return join_path(path_, key); }

std::string Node::found() const {
  constexpr std::size_t longest = 60;
  std::string text = value_->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, longest) + " ...";
  return text;
}

void Node::fail(const std::string& allowed) const {
  throw UserError(
      fmt::format("{}: found {}; allowed: {}", path_.empty() ? "the job" : path_, found(), allowed));
}

void Node::refuse(const std::string& message) const {
  throw UserError(fmt::format("{}: {}", path_.empty() ? "the job" : path_, message));
}

void Node::only(const std::vector<std::string>& keys) const {
  if (!value_->is_object()) fail("an object with the keys " + list_of(keys));
  for (const auto& member : value_->items()) {
    if (std::find(keys.begin(), keys.end(), member.key()) != keys.end()) continue;
    throw UserError(fmt::format("{}: unknown key.{}", path_of(member.key()), suggestion(member.key(), keys)));
  }
}

std::string Node::one_of(const std::vector<std::string>& choices,
                         const std::vector<std::string>& keys) const {
  only(keys);
  std::string chosen;
  for (const std::string& choice : choices) {
    if (!has(choice)) continue;
    if (!chosen.empty())
      refuse(fmt::format("\"{}\" and \"{}\" exclude each other; keep one", chosen, choice));
    chosen = choice;
  }
  if (chosen.empty())
    refuse(fmt::format("one of these keys is needed: {}; found {}", list_of(choices), found()));
  return chosen;
}

bool Node::has(std::string_view key) const {
  return value_->is_object() && value_->find(std::string(key)) != value_->end();
}

std::optional<Node> Node::find(std::string_view key) const {
  if (!value_->is_object()) return std::nullopt;
  const auto member = value_->find(std::string(key));
  if (member == value_->end()) return std::nullopt;
  return Node(*member, path_of(key));
}

Node Node::at(std::string_view key, std::string_view meaning) const {
  const std::optional<Node> member = find(key);
  if (!member) throw UserError(fmt::format("{}: missing; it holds {}", path_of(key), meaning));
  return *member;
}

std::vector<std::pair<std::string, Node>> Node::members() const {
  if (!value_->is_object()) fail("an object");
  std::vector<std::pair<std::string, Node>> list;
  for (const auto& member : value_->items())
    list.emplace_back(member.key(), Node(member.value(), path_of(member.key())));
  return list;
}

std::vector<Node> Node::items() const {
  if (!value_->is_array()) fail("a list");
  std::vector<Node> list;
  list.reserve(value_->size());
  for (std::size_t i = 0; i < value_->size(); ++i)
    list.emplace_back((*value_)[i], fmt::format("{}[{}]", path_, i));
  return list;
}

double Node::number(const Range& range) const {
  if (!value_->is_number()) fail(describe(range));
  const double number = value_->get<double>();
  const bool low = range.low_open ? number > range.low : number >= range.low;
  const bool high = range.high_open ? number < range.high : number <= range.high;
  if (!std::isfinite(number) || !low || !high) fail(describe(range));
  return number;
}

std::int64_t Node::integer(std::int64_t low, std::int64_t high, std::string_view unit) const {
  const auto complain = [&] {
    const bool bounded = high < std::numeric_limits<std::int64_t>::max();
    fail((bounded ? fmt::format("a whole number from {} to {}", low, high)
                  : fmt::format("a whole number >= {}", low)) +
         plural_unit(unit));
  };
  if (!value_->is_number()) complain();
  // 2^53 bounds what a JSON number holds exactly in every program.
  const double number = value_->get<double>();
  if (number != std::floor(number) || std::abs(number) > 9007199254740992.0) complain();
  const auto whole = static_cast<std::int64_t>(number);
  if (whole < low || whole > high) complain();
  return whole;
}

bool Node::boolean() const {
  if (!value_->is_boolean()) fail("true or false");
  return value_->get<bool>();
}

std::string Node::text() const {
  if (!value_->is_string() || value_->get_ref<const std::string&>().empty()) fail("a text that is not empty");
  return value_->get<std::string>();
}

std::string Node::choice(const std::vector<std::string>& words) const {
  if (!value_->is_string()) fail(list_of(words));
  const std::string word = value_->get<std::string>();
  if (std::find(words.begin(), words.end(), word) == words.end()) {
    throw UserError(fmt::format("{}: found {}.{}", path_, found(), suggestion(word, words)));
  }
  return word;
}

}  // namespace ondula::io
