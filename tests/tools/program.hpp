// Runs the program `ondula` as people do, and a small job to run it on.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "runtime/io/array.hpp"
#include "tests/support/temporary_directory.hpp"

namespace ondula::test {

/// What a process left.
struct Outcome {
  int status = 0;  ///< minus the signal where one ended it
  std::string out;
  std::string err;
};

/// How to start it: variables added to the environment, a signal to send once a file exists, another stdout.
struct Start {
  std::map<std::string, std::string> variables;
  int signal = 0;
  std::filesystem::path when;
  std::string out = {};      ///< where stdout goes, instead of into the outcome
  std::string program = {};  ///< instead of `ondula`
};

/// Runs the program to its end.
Outcome run_program(const std::vector<std::string>& arguments, const Start& start = {});

/// A job of 41 x 51 nodes, 400 steps, two shots and three receivers, without pictures
/// or cause for warnings; waves reach every face and come back.
nlohmann::ordered_json small_job();

/// A folder with a job in it, and runs of that job.
class Workshop {
 public:
  explicit Workshop(nlohmann::ordered_json job = small_job());

  nlohmann::ordered_json job;  ///< written anew by every run
  std::filesystem::path folder() const { return directory_.path(); }
  std::filesystem::path out() const { return directory_.path() / "out"; }
  /// `ondula run JOB more...`
  Outcome run(const std::vector<std::string>& more = {}, const Start& start = {});
  /// `ondula COMMAND JOB more...`
  Outcome command(const std::string& name, const std::vector<std::string>& more = {},
                  const Start& start = {});
  /// run.json of the last run.
  nlohmann::ordered_json report() const;
  /// A record of the last run.
  io::Array records(const std::string& file = "records_u.npy") const;
  /// The names of the files of the last run, sorted.
  std::vector<std::string> files() const;

 private:
  TemporaryDirectory directory_;
};

/// The whole content of a file.
std::string read_file(const std::filesystem::path& path);

}  // namespace ondula::test
