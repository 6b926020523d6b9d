// The program `ondula`: commands, options, and the exit status of every outcome.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>

#include "compiler/error.hpp"
#include "runtime/io/suggest.hpp"
#include "runtime/jit/clang_library.hpp"
#include "runtime/propagator.hpp"
#include "tools/answered.hpp"
#include "tools/basin.hpp"
#include "tools/born.hpp"
#include "tools/cache.hpp"
#include "tools/check.hpp"
#include "tools/check_failed.hpp"
#include "tools/doctor.hpp"
#include "tools/estimate.hpp"
#include "tools/excerpt.hpp"
#include "tools/explain.hpp"
#include "tools/generate.hpp"
#include "tools/gradient.hpp"
#include "tools/lint.hpp"
#include "tools/list.hpp"
#include "tools/new.hpp"
#include "tools/run.hpp"

namespace {

using namespace ondula;
using namespace ondula::tools;

/// The statuses of docs/program.md.
enum Status : int {
  done = 0,
  check_failed = 1,
  wrong_input = 2,
  compile_failed = 3,
  run_failed = 4,
  our_fault = 70,
  stopped = 130
};

/// The error in one paragraph on stderr, and on stdout as JSON where that was asked for.
int fail(Status status, const std::string& message, bool json) {
  std::fflush(stdout);
  fmt::print(stderr, "ondula: {}\n{}", message, excerpt(message));
  if (json) fmt::print("{}\n", nlohmann::ordered_json{{"error", message}, {"status", int(status)}}.dump(2));
  return status;
}

/// Whether all that was printed arrived; an earlier failed write is remembered in the stream alone.
bool stdout_is_written() { return std::fflush(stdout) == 0 && std::ferror(stdout) == 0; }

int fail_to_print() { return fail(run_failed, "cannot write to stdout: the output is incomplete", false); }

int guarded(const std::function<void()>& command, bool json) {
  try {
    command();
    return stdout_is_written() ? done : fail_to_print();
  } catch (const CheckFailed& error) {
    return fail(check_failed, error.what(), false);  // the answer is on stdout
  } catch (const Answered& error) {
    return fail(static_cast<Status>(error.status()), error.what(), false);
  } catch (const UserError& error) {
    return fail(wrong_input, error.what(), json);
  } catch (const CompileError& error) {
    return fail(compile_failed, error.what(), json);
  } catch (const RuntimeError& error) {
    return fail(run_failed, error.what(), json);
  } catch (const Cancelled& error) {
    return fail(stopped, fmt::format("interrupted: {}", error.what()), json);
  } catch (const std::bad_alloc&) {
    return fail(run_failed, "out of memory; `ondula estimate` says how much a job needs", json);
  } catch (const std::exception& error) {
    if (!stdout_is_written()) return fail_to_print();  // fmt throws where a print fails at once
    return fail(our_fault, fmt::format("a fault of Ondula's own: {}", error.what()), json);
  }
}

/// Commands that are known, but not part of this version.
const std::vector<std::string>& later_commands() {
  static const std::vector<std::string> names = {"invert", "migrate"};
  return names;
}

/// An unknown command is answered before the options of any command are looked at.
void check_command(const CLI::App& program, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; }))
    known.push_back(command->get_name());
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const auto& later = later_commands();
  if (std::find(later.begin(), later.end(), name) != later.end()) {
    throw UserError(
        fmt::format("{}: not supported by this version, which has: {}", name, io::list_of(known)));
  }
  throw UserError(fmt::format("no command \"{}\".{}", name, io::suggestion(name, known)));
}

/// Everything the commands were asked for.
struct Requests {
  JobOptions run, gradient, born, estimate;
  EquationOptions explain;
  ListOptions list;
  DoctorOptions doctor;
  CacheCommand cache;
  BasinCommand basin;
  GenerateCommand generate;
  CheckCommand check;
  LintCommand lint;
  NewCommand start;
  io::Existing basin_existing = io::Existing::refuse;
};

using Commands = std::vector<std::pair<CLI::App*, std::function<void()>>>;

void add_job_commands(CLI::App& program, Requests& requests, Commands& commands) {
  CLI::App* run = program.add_subcommand("run", "model the shots of a job: records, snapshots, pictures");
  add_job_options(*run, requests.run, true);
  commands.emplace_back(run, [&requests] { run_job(requests.run); });
  CLI::App* gradient =
      program.add_subcommand("gradient", "misfit against observed records, and its derivatives");
  add_job_options(*gradient, requests.gradient, true);
  commands.emplace_back(gradient, [&requests] { differentiate_job(requests.gradient); });
  CLI::App* born = program.add_subcommand("born", "linearised records for a perturbation of the model");
  add_job_options(*born, requests.born, true);
  commands.emplace_back(born, [&requests] { linearise_job(requests.born); });
  CLI::App* estimate = program.add_subcommand(
      "estimate", "limit of the step, points per wavelength, bytes, predicted time; runs nothing");
  add_job_options(*estimate, requests.estimate, false);
  commands.emplace_back(estimate, [&requests] { estimate_job(requests.estimate); });
}

void add_other_commands(CLI::App& program, Requests& requests, Commands& commands) {
  CLI::App* list = program.add_subcommand("list", "the equations, and what each supports");
  add_json_option(*list, requests.list.voice);
  commands.emplace_back(list, [&requests] { list_equations(requests.list); });
  CLI::App* explain =
      program.add_subcommand("explain", "an equation after every pass, its kernels' text and their work");
  add_equation_options(*explain, requests.explain);
  commands.emplace_back(explain, [&requests] { explain_equation(requests.explain); });
  CLI::App* doctor =
      program.add_subcommand("doctor", "what is here, what is missing, where it was looked for");
  add_json_option(*doctor, requests.doctor.voice);
  commands.emplace_back(doctor, [&requests] { examine_machine(requests.doctor); });
  CLI::App* cache = add_cache_command(program, requests.cache);
  commands.emplace_back(cache, [&requests] { manage_cache(requests.cache); });
  CLI::App* basin = add_basin_command(program, requests.basin);
  basin->add_flag_callback(
      "--force", [&requests] { requests.basin_existing = io::Existing::replace; },
      "replace files that exist");
  commands.emplace_back(basin, [&requests] {
    for (const std::string& path : write_basin(requests.basin, requests.basin_existing))
      fmt::print("{}\n", path);
  });
  CLI::App* check = add_check_command(program, requests.check);
  commands.emplace_back(check, [&requests] { check_equation(requests.check); });
  CLI::App* generate = add_generate_command(program, requests.generate);
  commands.emplace_back(generate, [&requests] { generate_sources(requests.generate); });
  CLI::App* lint = add_lint_command(program, requests.lint);
  commands.emplace_back(lint, [&requests] { lint_file(requests.lint); });
  CLI::App* start = add_new_command(program, requests.start);
  commands.emplace_back(start, [&requests] { start_equation(requests.start); });
}

/// A command line that cannot be read is answered in JSON too, so this looks at the words themselves.
bool wants_json(int argc, char** argv) {
  return std::find(argv, argv + argc, std::string_view("--json")) != argv + argc;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App program("Ondula: wave equations, compiled", "ondula");
  program.set_version_flag("--version", jit::ondula_version());
  program.require_subcommand(1);
  Requests requests;
  Commands commands;
  add_job_commands(program, requests, commands);
  add_other_commands(program, requests, commands);
  const bool json = wants_json(argc, argv);
  const std::string first = argc > 1 ? argv[1] : "";
  if (!first.empty() && first[0] != '-') {
    const int status = guarded([&] { check_command(program, first); }, json);
    if (status != done) return status;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return program.exit(error);  // --help, --version
    return fail(
        wrong_input,
        fmt::format(
            "{}; see ondula {}--help", error.what(),
            program.get_subcommands().empty() ? "" : program.get_subcommands().front()->get_name() + " "),
        json);
  }
  for (const auto& [command, body] : commands) {
    if (command->parsed()) return guarded(body, json);
  }
  return done;
}
