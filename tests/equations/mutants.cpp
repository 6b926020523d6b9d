// Built-in equations with one thing changed, as a slip of the hand would: each is refused in its author's
// terms, or is an equation of its own that passes the checks of its derivatives. SPDX-License-Identifier: MIT
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "tests/runtime/jit/support.hpp"
#include "tests/support/environment.hpp"
#include "tests/support/temporary_directory.hpp"
#include "tests/tools/program.hpp"

namespace ondula::test {
namespace {

using Json = nlohmann::ordered_json;

/// What a file of `equations/` says of one equation, from its EQUATION on.
std::string text_of(const std::string& file, const std::string& name) {
  const std::string all = read_bytes(std::filesystem::path("equations") / file);
  const std::size_t begin = all.find("EQUATION(" + name + ","), end = all.find("\n}\n", begin);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  return all.substr(begin, end + 3 - begin);
}

/// A pattern, and what stands in its place at one of the places where it is found.
struct Change {
  std::string pattern, replacement;
};

const std::vector<Change>& changes() {
  static const std::vector<Change> all = {
      // operators and signs
      {R"( \* )", " + "},
      {R"( \* )", " / "},
      {R"( \* )", " - "},
      {R"( \+ )", " - "},
      {R"( \+ )", " * "},
      {R"( - )", " + "},
      {R"( - )", " * "},
      {R"( / )", " * "},
      {R"( / )", " - "},
      {R"(= (sq|rho|lambda|\(div))", "= -$1"},
      {R"(sq\()", "("},
      {R"(sq\()", "sq(sq(vp) / "},
      {R"(\b2 )", "2.5 "},
      {R"(\b2 )", "-2 "},
      {R"(\bdiv\()", "grad("},
      {R"(\bdiv\()", "trace("},
      {R"(\bgrad\()", "div("},
      {R"(\bgrad\()", "laplacian("},
      {R"(\blaplacian\()", "grad("},
      {R"(\blaplacian\()", "sq("},
      {R"(\btrace\()", "sym("},
      {R"(\bsym\()", "trace("},
      {R"(identity\(\))", "1"},
      {R"(\bdtt\()", "dt("},
      {R"(\bdt\()", "dtt("},
      {R"(\b(source|force|moment_rate)\()", "force("},
      {R"(\b(source|force|moment_rate)\()", "source("},
      {R"(\b(source|force|moment_rate)\()", "grad("},
      // names
      {R"(\bvp\b(?!"))", "vq"},
      {R"(\bvp\b(?!"))", "rho"},
      {R"(\brho\b(?!"))", "vp"},
      {R"(\bu\b(?!"))", "vp"},
      {R"(\bv\b(?!"))", "s"},
      {R"(\bs\b(?!"))", "v"},
      {R"x("(vp|rho|u|v|s)")x", "\"double\""},
      {R"x("(vp|rho|u|v|s)")x", "\"__x\""},
      {R"x("(vp|rho|u|v|s)")x", "\"t0\""},
      {R"x("(vp|rho|u|v|s)")x", "\"vs\""},
      {R"x("(vp|rho|u|v|s)")x", "\"λ\""},
      {R"x("(vp|rho|u|v|s)")x", "\"\""},
      // units
      {R"("m/s")", "\"m\""},
      {R"("m/s")", "\"km/s\""},
      {R"("kg/m\^3")", "\"kg\""},
      {R"("Pa")", "\"m/s\""},
      {R"("Pa")", "\"Pa^\""},
      // types and declarations
      {R"(\bscalar\()", "vector("},
      {R"(\bscalar\()", "parameter("},
      {R"(\bvector\()", "scalar("},
      {R"(\bvector\()", "symmetric_tensor("},
      {R"(\bsymmetric_tensor\()", "vector("},
      {R"(\bparameter\()", "scalar("},
      {R"(, (positive|nonnegative)\))", ")"},
      {R"(, (positive|nonnegative)\))", ", \"positive\")"},
      {R"(\bauto )", "double "},
      {R"(;\n)", "\n"},
      {R"(\)\);)", ");"},
      {R"(\n  auto [^\n]*)", ""},
      {R"(\n  evolve[^\n]*)", ""},
  };
  return all;
}

struct Mutant {
  std::string text, what;
};

std::vector<Mutant> mutants() {
  std::vector<Mutant> result;
  std::set<std::string> seen;
  const std::vector<std::pair<std::string, std::string>> originals = {
      {"acoustic.cpp", "acoustic"}, {"acoustic.cpp", "acoustic_density"}, {"elastic.cpp", "elastic"}};
  for (const auto& [file, name] : originals) {
    const std::string text = text_of(file, name);
    const std::size_t body = text.find("{\n");
    for (const Change& change : changes()) {
      const std::regex pattern(change.pattern);
      for (std::sregex_iterator found(text.begin() + static_cast<std::ptrdiff_t>(body), text.end(), pattern),
           end;
           found != end; ++found) {
        const auto at = body + static_cast<std::size_t>(found->position());
        const std::string instead = found->format(change.replacement);
        std::string changed = text;
        changed.replace(at, static_cast<std::size_t>(found->length()), instead);
        if (changed == text || !seen.insert(changed).second) continue;
        const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n') + 1;
        result.push_back(
            {changed, fmt::format("{}, line {}: '{}' -> '{}'", name, line, found->str(), instead)});
      }
    }
  }
  return result;
}

/// What is wrong with the outcome; empty where the mutant was refused well, or is right by its own checks.
std::string verdict(const Outcome& outcome) {
  static const std::regex derivative("^(dot product|Taylor)");
  if (outcome.status == 0) return "";
  if (outcome.status == 1) {
    // Whether the mutant is physics is for the check to say; its derivatives are exact whatever it is.
    for (const Json& line : Json::parse(outcome.out)["checks"]) {
      const bool exact = std::regex_search(line["check"].get<std::string>(), derivative);
      if (exact && line["passed"] == false && line["figure"] != "")
        return "a derivative is wrong: " + line.dump();
    }
    return "";
  }
  if (outcome.status != 2 && outcome.status != 3) return fmt::format("status {}", outcome.status);
  // What is wrong with a value is told with its cell, and of the text with its line.
  if (outcome.err.find("mutant.cpp:") == std::string::npos &&
      outcome.err.find("at cell") == std::string::npos)
    return "neither a line of the author's nor a cell is named";
  for (const char* never :
       {"template", "instantiat", "ssertion", "internal", "ondula::dsl::Access", "generated/"}) {
    if (outcome.err.find(never) != std::string::npos) return fmt::format("says \"{}\"", never);
  }
  if (std::count(outcome.err.begin(), outcome.err.end(), '\n') > 24) return "more than 24 lines";
  return "";
}

TEST_CASE(
    "Mutants of the built-in equations are refused in their author's terms, or have exact derivatives") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory folder;
  const std::filesystem::path file = folder.path() / "mutant.cpp";
  const std::vector<Mutant> all = mutants();
  CHECK(all.size() >= 200);
  // A look at some, spread over all kinds, where not all are asked for.
  const std::size_t every = full_matrices() ? 1 : 13;
  std::map<int, int> by_status;
  for (std::size_t k = 0; k < all.size(); k += every) {
    write_bytes(file, "#include <ondula/dsl.hpp>\n\n" + all[k].text);
    const Outcome outcome = run_program({"check", file.string(), "--dims", "2", "--order", "4", "--json"});
    ++by_status[outcome.status];
    const std::string wrong = verdict(outcome);
    CAPTURE(all[k].what);
    CAPTURE(outcome.out);
    CAPTURE(outcome.err);
    CHECK(wrong == "");
  }
  MESSAGE(fmt::format("{} mutants: {} pass every check, {} fail one that is not of derivatives, {} refused",
                      by_status[0] + by_status[1] + by_status[2] + by_status[3], by_status[0], by_status[1],
                      by_status[2] + by_status[3]));
}

}  // namespace
}  // namespace ondula::test
