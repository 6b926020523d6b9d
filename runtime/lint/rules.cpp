// The rules, each a function: Clang 19's message and the author's line in, one sentence out.
// SPDX-License-Identifier: MIT
#include "runtime/lint/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "runtime/io/suggest.hpp"
#include "runtime/lint/scan.hpp"

namespace ondula::lint {
namespace {

using Maybe = std::optional<Answer>;

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

bool any_of(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

Edit replace(const Problem& p, const Part& part, const std::string& text) {
  return {p.file, p.number, part.from + 1, p.number, part.to + 1, text};
}

/// The text of the range, for a message; empty where it is long.
std::string range_text(const Problem& p) {
  if (p.begin == 0 || p.end <= p.begin || p.end > p.line.size() + 1) return "";
  const std::string text = p.line.substr(p.begin - 1, p.end - p.begin);
  return text.size() <= 40 ? text : "";
}

/// The operator at the caret, "==".
std::string operator_at(const Problem& p) {
  std::size_t to = p.column - 1;
  while (to < p.line.size() && std::string("+-*/%^&|<>=!~").find(p.line[to]) != std::string::npos) ++to;
  std::string found = p.column - 1 < to ? p.line.substr(p.column - 1, to - p.column + 1) : "";
  // A sign that follows is not part of it.
  while (found.size() > 1 && found != "<=>" &&
         (found.back() == '-' || found.back() == '+' || found.back() == '*'))
    found.pop_back();
  return found;
}

bool tensors_involved(const Said& said) {
  if (has(said.message, "Tensor") || has(said.message, "'Condition'")) return true;
  return std::any_of(said.notes.begin(), said.notes.end(),
                     [](const Note& note) { return has(note.message, "'Tensor'"); });
}

const std::vector<std::string>& mathematics() {
  static const std::vector<std::string> names = {
      "sqrt", "exp",  "log",   "sin",  "cos",  "tan",   "tanh", "abs",   "min",   "max",
      "pow",  "fabs", "fmin",  "fmax", "cbrt", "hypot", "exp2", "log2",  "log10", "asin",
      "acos", "atan", "atan2", "sinh", "cosh", "floor", "ceil", "round", "clamp"};
  return names;
}

/// What the language calls a function of std; empty where it has none.
std::string dsl_name(const std::string& name) {
  static const std::map<std::string, std::string> renamed = {
      {"fabs", "abs"}, {"fmin", "min"}, {"fmax", "max"}};
  if (const auto found = renamed.find(name); found != renamed.end()) return found->second;
  const auto& all = mathematics();
  return std::find(all.begin(), all.begin() + 10, name) != all.begin() + 10 ? name : "";
}

/// The cure of a power.
std::string product_for(const std::string& base, const std::string& exponent) {
  if (base.empty()) return "a product";
  if (exponent == "2") return fmt::format("sq({})", base);
  if (exponent == "3") return fmt::format("{0}*sq({0})", base);
  if (exponent == "4") return fmt::format("sq(sq({}))", base);
  if (exponent == "-1") return fmt::format("1/{}", base);
  if (exponent == "0.5") return fmt::format("sqrt({})", base);
  return "a product";
}

Maybe power(const Problem& p) {
  if (p.inside_header) return {};
  const bool hat =
      p.said->message.starts_with("invalid operands to binary expression") && operator_at(p).starts_with("^");
  const bool stars = p.said->message.starts_with("indirection requires pointer operand") && p.column > 1 &&
                     p.line.compare(p.column - 2, 2, "**") == 0;
  return hat || stars ? Maybe(power_answer(p)) : Maybe();
}

Maybe equals(const Problem& p) {
  if (!p.said->message.starts_with("invalid operands to binary expression ('TimeDerivative'") ||
      operator_at(p) != "==")
    return {};
  const std::string left = operand_before(p.line, p.column - 1).text;
  return Answer{"equals",
                fmt::format("== compares; an evolution is stated by =: write evolve({} = ...)", left),
                {{p.file, p.number, p.column, p.number, p.column + 2, "="}}};
}

/// std::sqrt(vp): a function of numbers, given an expression.
Maybe std_math(const Problem& p) {
  const std::string& message = p.said->message;
  const Part name = name_at(p.line, p.column - 1);
  const bool standard = name.text.starts_with("std::");
  const std::string bare = standard ? name.text.substr(5) : name.text;
  if (!any_of(mathematics(), bare)) return {};
  const bool missing = message.starts_with(fmt::format("no member named '{}' in namespace 'std'", bare));
  const bool refused =
      tensors_involved(*p.said) && (message.starts_with("no matching function for call to") ||
                                    has(message, "is ambiguous") || p.inside_header);
  const bool unknown = bare == "pow" && message.starts_with("use of undeclared identifier 'pow'");
  if (!missing && !refused && !unknown) return {};
  const std::vector<std::string> arguments = arguments_after(p.line, name.to);
  const std::string own = dsl_name(bare);
  std::string cure;
  std::vector<Edit> fixes;
  if (bare == "pow" && arguments.size() == 2) {
    cure = "write " + product_for(arguments[0], arguments[1]);
    if (arguments[1] == "2") {
      const Part call = operand_after(p.line, name.from);
      if (!call.empty()) fixes.push_back(replace(p, call, "sq(" + arguments[0] + ")"));
    }
  } else if (!own.empty() && own != "pow") {
    const std::string call = arguments.size() == 1 ? fmt::format("{}({})", own, arguments[0]) : own + "(...)";
    cure = fmt::format("write {}{}", call, standard ? ", without std::" : "");
    if (standard && refused) fixes.push_back(replace(p, name, own));
  } else {
    cure = fmt::format("the language has no {}()", bare);
  }
  if (unknown) return Answer{"std-math", fmt::format("there is no pow(): {}", cure), fixes};
  if (missing)
    return Answer{
        "std-math",
        fmt::format("std::{}() of a number needs #include <cmath>; of an expression {}", bare, cure),
        {}};
  return Answer{"std-math", fmt::format("{}() takes numbers, not expressions: {}", name.text, cure), fixes};
}

/// evolve() of something else than dt(u) = ...
Maybe evolve_argument(const Problem& p) {
  if (!p.said->message.starts_with("no viable conversion from") ||
      !has(p.said->message, "to 'const EvolutionStatement'"))
    return {};
  const std::string what = range_text(p), kind = kind_of(quoted(p.said->message)[0]);
  std::string found = kind;
  const std::size_t equals = p.begin == 0 ? std::string::npos : p.line.find("==", p.begin - 1);
  if (kind == "a comparison" && equals != std::string::npos) {
    return Answer{"equals",
                  fmt::format("== compares; an evolution is stated by =: write evolve({} = ...)",
                              operand_before(p.line, equals).text),
                  {{p.file, p.number, equals + 1, p.number, equals + 3, "="}}};
  }
  if (kind == "a time derivative")
    found = fmt::format("no right side; write evolve({} = ...)", what.empty() ? "dt(...)" : what);
  const std::size_t sign = what.find('=');
  if (kind == "an expression" && sign != std::string::npos)
    found = fmt::format("an assignment to {}", operand_before(what, sign).text);
  return Answer{"evolve", fmt::format("evolve() takes dt(...) = ... or dtt(...) = ..., found {}", found), {}};
}

const std::vector<std::string>& body_names() {
  static const std::vector<std::string> names = {"parameter",        "scalar",   "vector",
                                                 "symmetric_tensor", "identity", "evolve"};
  return names;
}

/// Functions of the language are found by their arguments: without an expression among these they seem
/// unknown.
Maybe undeclared(const Problem& p) {
  const std::string& message = p.said->message;
  if (!message.starts_with("use of undeclared identifier")) return {};
  const std::string name = quoted(message)[0];
  const Part at = name_at(p.line, p.column - 1);
  if (any_of(*p.vocabulary, name)) {
    const std::vector<std::string> given = arguments_after(p.line, at.to);
    if (given.empty())
      return Answer{"arguments", fmt::format("{}() needs an argument, an expression with a field", name), {}};
    return Answer{"arguments", fmt::format("{}() takes an expression, found {}", name, given[0]), {}};
  }
  if (any_of(body_names(), name))
    return Answer{"name", fmt::format("{}() is known in the body of an EQUATION only", name), {}};
  if (name == "M_PI")
    return Answer{"name", "M_PI is no name of C++: write std::numbers::pi, with #include <numbers>", {}};
  std::vector<std::string> known = *p.vocabulary;
  known.insert(known.end(), body_names().begin(), body_names().end());
  std::string nearest = io::nearest(name, known);
  std::vector<Edit> fixes;
  const std::vector<std::string> words = quoted(message);
  if (has(message, "; did you mean ") && words.size() > 1) nearest = words[1];
  if (nearest.empty() || has(nearest, "::"))
    return Answer{"name", fmt::format("{} is not declared", name), {}};
  if (!at.empty()) fixes.push_back(replace(p, at, nearest));
  return Answer{"name", fmt::format("{} is not declared; did you mean {}?", name, nearest), fixes};
}

/// Names of std that a header has which is not included.
Maybe header(const Problem& p) {
  const std::string& message = p.said->message;
  if (!message.starts_with("no template named") && !message.starts_with("no member named") &&
      !message.starts_with("no type named"))
    return {};
  if (!has(message, "in namespace 'std'")) return {};
  static const std::map<std::string, std::string> headers = {{"map", "map"},
                                                             {"set", "set"},
                                                             {"array", "array"},
                                                             {"function", "functional"},
                                                             {"cout", "iostream"},
                                                             {"cerr", "iostream"},
                                                             {"endl", "iostream"},
                                                             {"numbers", "numbers"},
                                                             {"deque", "deque"},
                                                             {"list", "list"},
                                                             {"unordered_map", "unordered_map"},
                                                             {"sort", "algorithm"},
                                                             {"accumulate", "numeric"},
                                                             {"ostringstream", "sstream"},
                                                             {"complex", "complex"},
                                                             {"runtime_error", "stdexcept"},
                                                             {"size_t", "cstddef"},
                                                             {"unique_ptr", "memory"},
                                                             {"shared_ptr", "memory"},
                                                             {"ifstream", "fstream"}};
  const std::string name = quoted(message)[0];
  const auto found = headers.find(name);
  if (found == headers.end()) return {};
  return Answer{"include", fmt::format("std::{} needs #include <{}>", name, found->second), {}};
}

std::string ordinal(const std::string& text) {
  static const std::map<std::string, std::string> words = {
      {"1st", "first"}, {"2nd", "second"}, {"3rd", "third"}, {"4th", "fourth"}};
  const auto found = words.find(text);
  return found == words.end() ? text : found->second;
}

/// A call that no overload takes.
Maybe call(const Problem& p) {
  const std::string& message = p.said->message;
  if (!message.starts_with("no matching function for call to") &&
      !message.starts_with("no matching member function for call to") &&
      !message.starts_with("no matching constructor"))
    return {};
  const std::string name = quoted(message).empty() ? "it" : quoted(message)[0];
  for (const Note& note : p.said->notes) {
    if (const std::size_t at = note.message.find("no known conversion from"); at != std::string::npos) {
      const std::size_t nth = note.message.rfind(" for ");
      const std::string which = nth == std::string::npos
                                    ? ""
                                    : note.message.substr(nth + 5, note.message.find(' ', nth + 5) - nth - 5);
      const std::vector<std::string> types = quoted(note.message.substr(at));
      return Answer{
          "arguments",
          fmt::format("{}() cannot take {} as its {} argument", name, kind_of(types[0]), ordinal(which)),
          {}};
    }
    if (const std::size_t at = note.message.find("requires ");
        at != std::string::npos && has(note.message, "provided")) {
      const std::size_t count = arguments_after(p.line, name_at(p.line, p.column - 1).to).size();
      std::string wanted = note.message.substr(at + 9, note.message.find(',', at) - at - 9);
      if (wanted.starts_with("single argument")) wanted = "1 argument";
      return Answer{"arguments", fmt::format("{}() takes {}, found {}", name, wanted, count), {}};
    }
  }
  return Answer{"arguments", fmt::format("{}() takes no such arguments", name), {}};
}

/// An argument or initial value of another type.
Maybe type(const Problem& p) {
  const std::string& message = p.said->message;
  const std::vector<std::string> types = quoted(message);
  if (message.starts_with("too few arguments to function call") ||
      message.starts_with("too many arguments to function call")) {
    const Part name = operand_before(p.line, p.line.find_last_of('(', p.column - 1));
    const std::size_t comma = message.find(", ");
    std::string wanted = message.substr(comma + 2);
    if (has(wanted, "single argument")) wanted = "expected 1 argument";
    return Answer{"arguments", fmt::format("{}(): {}", name.text, wanted), {}};
  }
  if (types.size() < 2) return {};
  if (message.starts_with("conversion from") && has(message, "'const Located' is ambiguous"))
    return Answer{
        "types",
        fmt::format("a number of type {} may become an int or a double here: write double(...) around it",
                    types[0]),
        {}};
  std::string from, to;
  if (message.starts_with("no viable conversion from")) std::tie(from, to) = std::pair(types[0], types[1]);
  if (message.starts_with("reference to type")) std::tie(from, to) = std::pair(types.back(), types[0]);
  if (message.starts_with("cannot initialize"))
    std::tie(from, to) = std::pair(types.back(), types[types.size() - 2]);
  if (message.starts_with("assigning to")) std::tie(from, to) = std::pair(types[1], types[0]);
  if (from.empty()) return {};
  // "(aka '...')" follows the type it explains.
  if (message.starts_with("reference to type") && has(message, "(aka") && types.size() > 2 &&
      has(message.substr(message.rfind("type")), "(aka"))
    from = types[types.size() - 2];
  return Answer{"types", fmt::format("{} is needed here, found {}", kind_of(to), kind_of(from)), {}};
}

/// An operator between what it does not take.
Maybe operands(const Problem& p) {
  const std::string& message = p.said->message;
  if (p.inside_header) return {};
  if (message.starts_with("no viable overloaded '")) {
    const std::string sign = quoted(message)[0];
    if (sign.size() != 2 || sign[1] != '=') return {};
    const std::string left = operand_before(p.line, p.column - 1).text;
    return Answer{"operands",
                  fmt::format("{} is not for expressions: write {} = {} {} ...", sign, left, left, sign[0]),
                  {}};
  }
  if (!message.starts_with("invalid operands to binary expression")) return {};
  const std::vector<std::string> all = quoted(message);
  std::vector<std::string> types;
  // "'ostream' (aka 'basic_ostream<char>') and 'Tensor'"
  const std::size_t middle = message.find(" and '");
  if (all.size() < 2 || middle == std::string::npos) return {};
  types = {all[0], quoted(message.substr(middle))[0]};
  const std::string sign = operator_at(p);
  const std::string left = kind_of(types[0]), right = kind_of(types[1]);
  if (left == "a time derivative" || right == "a time derivative")
    return Answer{"operands", "dt() and dtt() stand alone left of the =, as in evolve(dt(u) = ...)", {}};
  return Answer{"operands", fmt::format("{} cannot take {} and {}", sign, left, right), {}};
}

/// What an expression is not.
Maybe nature(const Problem& p) {
  const std::string& message = p.said->message;
  if (has(message, "'Condition' is not contextually convertible to 'bool'"))
    return Answer{"operands",
                  "a comparison of parameters is not known yet: write where(...) in place of if and ?:",
                  {}};
  if (message.starts_with("attempt to use a deleted function") && p.column > 1 && p.line[p.column - 2] == '[')
    return Answer{"operands", "components are named by their axes: write v[\"x\"], s[\"xz\"]", {}};
  if (!has(message, "Tensor'")) return {};
  if (has(message, "does not provide a subscript operator"))
    return Answer{"operands", "an expression has no indices: an equation is stated for whole fields", {}};
  if (has(message, "does not provide a call operator"))
    return Answer{"operands", "an expression is no function: is a * missing before the parenthesis?", {}};
  if (has(message, "is not contextually convertible to 'bool'"))
    return Answer{
        "operands", "an expression is neither true nor false: no if and no ?: can ask for its value", {}};
  return {};
}

Maybe body(const Problem& p) {
  if (p.said->message.starts_with("void function 'define' should not return a value"))
    return Answer{"return", "the body of an EQUATION returns nothing: state evolve(dt(...) = ...)", {}};
  return {};
}

Maybe file(const Problem& p) {
  if (!has(p.said->message, "' file not found")) return {};
  const std::string name = quoted(p.said->message)[0];
  const char* where = name.starts_with("ondula/")
                          ? "the language's header is <ondula/dsl.hpp>"
                          : "\"...\" is looked for beside this file, <...> among the system's headers";
  return Answer{"include", fmt::format("there is no file {}: {}", name, where), {}};
}

}  // namespace

std::vector<std::string> quoted(const std::string& message) {
  std::vector<std::string> all;
  for (std::size_t from = message.find('\''); from != std::string::npos;) {
    const std::size_t to = message.find('\'', from + 1);
    if (to == std::string::npos) break;
    all.push_back(message.substr(from + 1, to - from - 1));
    from = message.find('\'', to + 1);
  }
  return all;
}

std::string kind_of(const std::string& type) {
  std::string plain = type;
  for (const char* part : {"const ", "volatile ", "ondula::dsl::", " &&", " &"})
    for (std::size_t at = plain.find(part); at != std::string::npos; at = plain.find(part))
      plain.erase(at, std::string(part).size());
  if (plain == "Tensor" || plain == "Located" || plain == "value_type") return "an expression";
  if (plain == "TimeDerivative") return "a time derivative";
  if (plain == "Condition") return "a comparison";
  if (plain == "EvolutionStatement") return "dt(...) = ...";
  if (plain == "ir::Sign" || plain == "Sign") return "any, nonnegative or positive";
  if (plain.starts_with("char[") || plain == "char *" || plain == "std::string" ||
      has(plain, "basic_string<char"))
    return "a text";
  static const std::vector<std::string> numbers = {
      "int",  "double", "float",       "long",   "unsigned int", "unsigned long", "short",
      "bool", "char",   "std::size_t", "size_t", "long double",  "long long"};
  if (any_of(numbers, plain)) return "a number";
  if (has(plain, "(lambda") || has(plain, "(*)")) return "a function";
  const bool vowel = !plain.empty() && std::string("aeiou").find(plain[0]) != std::string::npos;
  return (vowel ? "an " : "a ") + plain;
}

Answer power_answer(const Problem& p) {
  const bool stars = p.column > 1 && p.column <= p.line.size() && p.line.compare(p.column - 2, 2, "**") == 0;
  const std::size_t at = p.column - (stars ? 2 : 1);
  const Part base = operand_before(p.line, at), exponent = operand_after(p.line, p.column);
  const std::string cure = product_for(base.text, exponent.text);
  std::vector<Edit> fixes;
  if (exponent.text == "2" && !base.empty()) fixes.push_back(replace(p, {base.from, exponent.to, ""}, cure));
  return {"power",
          stars ? fmt::format("** is no operator of C++: write {}", cure)
                : fmt::format("^ is C++'s exclusive or, not a power: write {}", cure),
          fixes};
}

std::optional<Answer> answer(const Problem& problem) {
  static constexpr std::array rules = {power, equals,   std_math, evolve_argument, undeclared, header, call,
                                       type,  operands, body,     nature,          file};
  for (const auto rule : rules)
    if (Maybe found = rule(problem)) return found;
  return {};
}

}  // namespace ondula::lint
