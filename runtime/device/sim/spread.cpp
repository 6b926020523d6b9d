// Sorting a kernel's statements into those of a row of threads and those of one.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/spread.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "runtime/device/sim/tokens.hpp"

namespace ondula::sim {
namespace {

/// Thrown and caught in this file: the body stays as it is.
struct NotUnderstood {};

/// Tokens [begin, end).
struct Statement {
  std::size_t begin = 0, end = 0;
};

/// Names and statements that a scope's lanes know, besides what the text around declares.
struct Scope {
  std::set<std::string> varying;   ///< another value in each lane
  std::set<std::string> changing;  ///< of these, not const
  std::set<std::string> common;    ///< one for all lanes, and not const
  std::string again;               ///< what each run of lanes computes for itself first
  std::string arrays;              ///< the lane's element of thread-private arrays
  bool top = true;                 ///< not inside a loop
};

class Spreader {
 public:
  Spreader(const std::string& text, const ScannedKernel& kernel)
      : text_(text),
        kernel_(kernel),
        begin_(kernel.body_begin + 1),
        end_(kernel.body_end),
        tokens_(tokens_of(text, begin_, end_)) {}

  std::string run() {
    Scope scope;
    scope.common.insert(kernel_.parameters.begin(), kernel_.parameters.end());
    statements(0, tokens_.size(), scope);
    std::string out;
    std::size_t at = begin_;
    std::stable_sort(edits_.begin(), edits_.end(), [](const Edit& a, const Edit& b) { return a.at < b.at; });
    for (const Edit& edit : edits_) {
      out += text_.substr(at, edit.at - at) + edit.put;
      at = edit.at + edit.length;
    }
    return out + text_.substr(at, end_ - at);
  }

 private:
  struct Edit {
    std::size_t at = 0, length = 0;
    std::string put;
  };

  bool is(std::size_t i, const char* what) const { return i < tokens_.size() && tokens_[i].is(what); }
  std::size_t past(std::size_t i) const { return tokens_[i].at + tokens_[i].text.size(); }

  /// Past the bracket that closes the one at i.
  std::size_t closed(std::size_t i, const char* left, const char* right) const {
    if (!is(i, left)) throw NotUnderstood();
    return past_closing(tokens_, i, left, right);
  }

  /// Past the directive at i: the tokens of its line.
  std::size_t past_directive(std::size_t i) const {
    const std::size_t line_end = text_.find('\n', tokens_[i].at);
    while (i < tokens_.size() && tokens_[i].at < line_end) ++i;
    return i;
  }

  /// The statement at i, a directive before it included.
  Statement statement(std::size_t i) const {
    Statement found{i, i};
    while (is(i, "#")) i = past_directive(i);
    if (is(i, "{")) {
      found.end = closed(i, "{", "}");
    } else if (is(i, "for") || is(i, "while") || is(i, "if")) {
      found.end = statement(closed(i + 1, "(", ")")).end;
      if (is(i, "if") && is(found.end, "else")) found.end = statement(found.end + 1).end;
    } else if (is(i, "do") || is(i, "switch") || is(i, "goto") || is(i, "static") || is(i, "using")) {
      throw NotUnderstood();
    } else {
      found.end = i;
      while (found.end < tokens_.size() && !is(found.end, ";")) {
        if (is(found.end, "("))
          found.end = closed(found.end, "(", ")");
        else if (is(found.end, "{"))
          found.end = closed(found.end, "{", "}");
        else
          ++found.end;
      }
      ++found.end;
    }
    if (found.end > tokens_.size()) throw NotUnderstood();
    return found;
  }

  /// Whether one of the tokens has another value in each lane.
  bool varies(std::size_t begin, std::size_t end, const Scope& scope) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (scope.varying.contains(tokens_[i].text) && !is(i - 1, ".")) return true;
      if (is(i, "threadIdx") && !(is(i + 1, ".") && (is(i + 2, "y") || is(i + 2, "z")))) return true;
    }
    return false;
  }

  /// An expression that loads nothing, changes nothing and calls nothing.
  bool pure(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin; i < end; ++i) {
      if (is(i, "[") || is(i, "{") || is(i, "\"")) return false;
      if (tokens_[i].word() && is(i + 1, "(")) return false;
      if (is(i, "=") && !is(i + 1, "=") && !is(i - 1, "=") && !is(i - 1, "<") && !is(i - 1, ">") &&
          !is(i - 1, "!"))
        return false;
      if ((is(i, "+") || is(i, "-")) && tokens_[i].text == tokens_[i + 1].text &&
          tokens_[i + 1].at == tokens_[i].at + 1)
        return false;
      // A star after a bracket, an operator or nothing looks through a pointer.
      if (is(i, "*") && i > begin && !tokens_[i - 1].word() && !is(i - 1, ")") && !is(i - 1, "]") &&
          std::isdigit(static_cast<unsigned char>(tokens_[i - 1].text[0])) == 0)
        return false;
      if (is(i, "*") && i == begin) return false;
    }
    return true;
  }

  /// Where the name stands in a declaration "TYPE NAME = ...;" or "TYPE NAME[N];", or 0.
  std::size_t declared(const Statement& s) const {
    std::size_t i = s.begin;
    if (!tokens_[i].word() || is(i, "return") || is(i, "if") || is(i, "for") || is(i, "else") ||
        is(i, "while"))
      return 0;
    std::size_t words = 0;
    for (; i < s.end && (tokens_[i].word() || is(i, "*")); ++i) words += tokens_[i].word() ? 1 : 0;
    if (words < 2 || !tokens_[i - 1].word()) return 0;
    return (is(i, "=") && !is(i + 1, "=")) || is(i, "[") || is(i, ";") ? i - 1 : 0;
  }

  bool is_const(const Statement& s, std::size_t name) const {
    // Of a pointer, itself: the word before the name.
    bool pointer = false;
    for (std::size_t i = s.begin; i < name; ++i) pointer = pointer || is(i, "*");
    return pointer ? is(name - 1, "const") : is(s.begin, "const");
  }

  /// "TYPE NAME[N];" with nothing after it.
  bool private_array(const Statement& s, std::size_t name) const {
    return name > 0 && is(name + 1, "[") && is(s.end - 1, ";") && closed(name + 1, "[", "]") == s.end - 1 &&
           s.begin + 1 == name;
  }

  std::string slice(const Statement& s) const {
    std::string out;
    for (std::size_t i = s.begin; i < s.end; ++i) {
      // Two signs that stand together stay one.
      const bool apart = i == s.begin || tokens_[i].at > past(i - 1);
      out += (apart ? " " : "") + tokens_[i].text;
    }
    return out;
  }

  /// Blanks the statement out, lines kept.
  void blank(const Statement& s) {
    Edit edit{tokens_[s.begin].at, past(s.end - 1) - tokens_[s.begin].at, ""};
    edit.put = text_.substr(edit.at, edit.length);
    std::replace_if(edit.put.begin(), edit.put.end(), [](char c) { return c != '\n'; }, ' ');
    edits_.push_back(edit);
  }

  /// "if (pure) return;" at the head, or "if (pure) NAME op= pure;" of a name of the lanes.
  bool guard(const Statement& s, const Scope& scope) const {
    if (!is(s.begin, "if")) return false;
    const std::size_t body = closed(s.begin + 1, "(", ")");
    if (!pure(s.begin + 2, body - 1)) return false;
    if (is(body, "return") && is(body + 1, ";") && body + 2 == s.end) {
      if (!scope.top) throw NotUnderstood();
      return true;
    }
    return scope.changing.contains(tokens_[body].text) && (is(body + 2, "=") || is(body + 1, "=")) &&
           is(s.end - 1, ";") && pure(body + (is(body + 1, "=") ? 2 : 3), s.end - 1);
  }

  /// A loop whose head is the same for all threads of a row: the index of its body's brace, or 0.
  std::size_t common_loop(const Statement& s, const Scope& scope) const {
    std::size_t i = s.begin;
    while (is(i, "#")) i = past_directive(i);
    if (!is(i, "for")) return 0;
    const std::size_t body = closed(i + 1, "(", ")");
    if (!is(body, "{") || varies(i + 1, body, scope)) return 0;
    for (std::size_t k = i + 2; k < body; ++k)
      if (is(k, "[") || (tokens_[k].word() && is(k + 1, "("))) return 0;
    return body;
  }

  void statements(std::size_t begin, std::size_t end, Scope scope) {
    Run run;
    for (std::size_t i = begin; i < end;) {
      const Statement s = statement(i);
      i = s.end;
      const std::size_t name = declared(s);
      const bool valued = name > 0 && is(name + 1, "=");
      // What a run declares is gone after it: all that follows in its scope is part of it.
      if (run.declares) {
        extend(run, s, scope);
      } else if (name > 0 && private_array(s, name)) {
        close(run, scope);
        spread_array(s, name, scope);
      } else if (valued && is_const(s, name) && !varies(s.begin, s.end, scope)) {
        close(run, scope);  // it stands as it is, in its place
      } else if (valued && pure(name + 2, s.end - 1)) {
        scope.varying.insert(tokens_[name].text);
        if (!is_const(s, name)) scope.changing.insert(tokens_[name].text);
        scope.again += slice(s);
        blank(s);
      } else if (guard(s, scope)) {
        scope.again += slice(s);
        blank(s);
      } else if (const std::size_t body = common_loop(s, scope); body > 0) {
        close(run, scope);
        Scope inner = scope;
        inner.top = false;
        const auto equals = std::find_if(tokens_.begin() + static_cast<std::ptrdiff_t>(s.begin),
                                         tokens_.end(), [](const Token& token) { return token.is("="); });
        inner.common.insert((equals - 1)->text);
        statements(body + 1, s.end - 1, inner);
      } else {
        extend(run, s, scope);
      }
    }
    close(run, scope);
  }

  /// Statements that every lane runs in one go.
  struct Run {
    std::vector<Statement> parts;
    bool declares = false;
  };

  void extend(Run& run, const Statement& s, const Scope& scope) const {
    for (std::size_t i = s.begin; i < s.end; ++i) {
      if (is(i, "return")) throw NotUnderstood();
      const std::string& word = tokens_[i].text;
      if ((scope.changing.contains(word) || scope.common.contains(word)) && changed(i)) throw NotUnderstood();
    }
    if (jumps(s)) throw NotUnderstood();
    run.parts.push_back(s);
    // Anything that looks like a declaration.
    run.declares = run.declares || (tokens_[s.begin].word() && s.begin + 1 < s.end &&
                                    (tokens_[s.begin + 1].word() || is(s.begin + 1, "*") ||
                                     is(s.begin + 1, "&") || is(s.begin + 1, "<") || is(s.begin + 1, ":")));
  }

  /// Whether the name at i is assigned to, or its address taken; rather too often than too rarely.
  bool changed(std::size_t i) const {
    const bool assigned = is(i + 1, "=") && !is(i + 2, "=");
    const bool operated = is(i + 2, "=") && tokens_[i + 1].text.find_first_of("+-*/%&|^") == 0;
    const bool shifted =
        is(i + 3, "=") && (is(i + 1, "<") || is(i + 1, ">")) && tokens_[i + 1].text == tokens_[i + 2].text;
    const bool counted = (is(i + 1, "+") && is(i + 2, "+")) || (is(i + 1, "-") && is(i + 2, "-"));
    const bool counted_before = i > 1 && (is(i - 1, "+") || is(i - 1, "-")) &&
                                tokens_[i - 1].text == tokens_[i - 2].text &&
                                tokens_[i - 1].at == tokens_[i - 2].at + 1;
    const bool addressed = i > 1 && is(i - 1, "&") && !is(i - 2, "&");
    return assigned || operated || shifted || counted || counted_before || addressed;
  }

  /// Whether it jumps out of a loop around it.
  bool jumps(const Statement& s) const {
    std::size_t i = s.begin;
    while (is(i, "#")) i = past_directive(i);
    if (is(i, "for") || is(i, "while")) return false;
    if (is(i, "if")) {
      const Statement then = statement(closed(i + 1, "(", ")"));
      return jumps(then) || (is(then.end, "else") && jumps(statement(then.end + 1)));
    }
    if (is(i, "{")) {
      for (std::size_t inner = i + 1; inner + 1 < s.end;) {
        const Statement part = statement(inner);
        if (jumps(part)) return true;
        inner = part.end;
      }
      return false;
    }
    return is(i, "continue") || is(i, "break");
  }

  /// "if (PURE) {...}" of names that are not the run's own.
  bool rare(const Run& run, const Statement& s) const {
    if (!is(s.begin, "if")) return false;
    const std::size_t body = closed(s.begin + 1, "(", ")");
    if (!is(body, "{") || closed(body, "{", "}") != s.end || !pure(s.begin + 2, body - 1)) return false;
    std::set<std::string> own;
    for (const Statement& part : run.parts)
      if (const std::size_t name = declared(part)) own.insert(tokens_[name].text);
    return std::none_of(tokens_.begin() + static_cast<std::ptrdiff_t>(s.begin),
                        tokens_.begin() + static_cast<std::ptrdiff_t>(body),
                        [&](const Token& token) { return own.contains(token.text); });
  }

  /// Puts the loop of lanes around a run. Blocks under a condition (layers, and what is next to them) would
  /// be computed for all lanes of a vector wherever they are: a row none of whose lanes is in one runs
  /// without them, others run lane by lane.
  void close(Run& run, const Scope& scope) {
    if (run.parts.empty()) return;
    const std::string own = scope.arrays + scope.again;
    std::string conditions, rest;
    bool can_split = true;
    for (const Statement& s : run.parts) {
      const bool block = is(s.begin, "if") && is(closed(s.begin + 1, "(", ")"), "{");
      if (rare(run, s))
        conditions += (conditions.empty() ? "" : " ||") + slice({s.begin + 1, closed(s.begin + 1, "(", ")")});
      else
        rest += slice(s);
      can_split = can_split && (!block || rare(run, s)) && !is(s.begin, "#");
    }
    const bool split = can_split && !conditions.empty() && !rest.empty();
    const std::size_t first = run.parts.front().begin, last = run.parts.back().end - 1;
    std::string before = " ONDULA_SIM_LANES_BEGIN" + own, after = " ONDULA_SIM_LANES_END";
    if (split) {
      before = " { bool ondula_rare = false; ONDULA_SIM_LANES_BEGIN" + own + " if (" + conditions +
               ") ondula_rare = true; ONDULA_SIM_LANES_END if (!ondula_rare) { ONDULA_SIM_LANES_BEGIN" + own +
               rest + " ONDULA_SIM_LANES_END } else { ONDULA_SIM_SINGLE_BEGIN" + own;
      after += " } }";
    } else if (!can_split) {
      before = " ONDULA_SIM_SINGLE_BEGIN" + own;
    }
    edits_.push_back({first > 0 ? past(first - 1) : begin_, 0, before});
    edits_.push_back({past(last), 0, after});
    run = {};
  }

  /// An element per lane, side by side: lanes become vectors.
  void spread_array(const Statement& s, std::size_t name, Scope& scope) {
    const std::string &own = tokens_[name].text, &type = tokens_[s.begin].text;
    edits_.push_back({tokens_[s.begin].at, past(s.end - 1) - tokens_[s.begin].at,
                      fmt::format("alignas(64) {} ondula_{}[({}) * ondula_sim_lanes];", type, own,
                                  slice({name + 2, s.end - 2}))});
    scope.varying.insert(own);
    scope.arrays += fmt::format(" const ondula_sim_private<{0}> {1}{{ondula_{1}, ondula_lane}};", type, own);
  }

  const std::string& text_;
  const ScannedKernel& kernel_;
  std::size_t begin_, end_;
  Tokens tokens_;
  std::vector<Edit> edits_;
};

}  // namespace

std::string spread(const std::string& text, const ScannedKernel& kernel) {
  if (kernel.opaque || kernel.barriers || kernel.shared) return "";
  try {
    return Spreader(text, kernel).run();
  } catch (const NotUnderstood&) {
    return "";
  }
}

}  // namespace ondula::sim
