// Runs the program `ondula` as people do.
// SPDX-License-Identifier: MIT
#include "tests/tools/program.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "runtime/io/npy.hpp"

namespace ondula::test {
namespace {

[[noreturn]] void become(const std::vector<std::string>& arguments, const Start& start,
                         const std::filesystem::path& folder) {
  for (const auto& [name, value] : start.variables) setenv(name.c_str(), value.c_str(), 1);
  const auto redirect = [&](const char* name, int descriptor) {
    const int file = open((folder / name).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
  };
  redirect("stdout", STDOUT_FILENO);
  redirect("stderr", STDERR_FILENO);
  if (!start.out.empty()) redirect(start.out.c_str(), STDOUT_FILENO);
  std::vector<std::string> words{start.program.empty() ? ONDULA_PROGRAM : start.program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(pointers.front(), pointers.data());
  _exit(127);
}

/// Sends the signal as soon as the awaited file is there, or lets the process end.
void send(pid_t process, const Start& start) {
  using namespace std::chrono_literals;
  for (int round = 0; round < 20'000; ++round) {
    siginfo_t ended = {};
    waitid(P_PID, static_cast<id_t>(process), &ended, WEXITED | WNOHANG | WNOWAIT);
    if (ended.si_pid == process) return;
    if (std::filesystem::exists(start.when)) break;
    std::this_thread::sleep_for(1ms);
  }
  kill(process, start.signal);
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + path.string());
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

Outcome run_program(const std::vector<std::string>& arguments, const Start& start) {
  const TemporaryDirectory streams;
  const pid_t process = fork();
  if (process < 0) throw std::runtime_error("fork failed");
  if (process == 0) become(arguments, start, streams.path());
  if (start.signal != 0) send(process, start);
  int status = 0;
  waitpid(process, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status), read_file(streams.path() / "stdout"),
          read_file(streams.path() / "stderr")};
}

nlohmann::ordered_json small_job() {
  return nlohmann::ordered_json::parse(R"({
    "equation": "acoustic",
    "grid": {"axes": ["z", "x"], "shape": [41, 51], "spacing": [10, 10], "origin": [0, 0]},
    "time": {"dt": 0.001, "steps": 400, "t0": 0},
    "order": 4,
    "models": {"vp": 2000},
    "absorb": {"width": 10},
    "wavelet": {"ricker": {"frequency": 14, "delay": 0.11}},
    "sources": [{"shot": 0, "field": "u", "at": {"z": 203, "x": 247}},
                {"shot": 1, "field": "u", "at": {"z": 150, "x": 300}}],
    "receivers": [{"field": "u", "at": [{"z": 180, "x": 260}, {"z": 214, "x": 300}, {"z": 100, "x": 200}]}],
    "output": {"directory": "out", "pictures": false}
  })");
}

Workshop::Workshop(nlohmann::ordered_json start) : job(std::move(start)) {}

Outcome Workshop::run(const std::vector<std::string>& more, const Start& start) {
  return command("run", more, start);
}

Outcome Workshop::command(const std::string& name, const std::vector<std::string>& more, const Start& start) {
  const auto file = folder() / "job.json";
  std::ofstream(file) << job.dump(2);
  std::vector<std::string> arguments{name, file.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_program(arguments, start);
}

nlohmann::ordered_json Workshop::report() const {
  return nlohmann::ordered_json::parse(read_file(out() / "run.json"));
}

io::Array Workshop::records(const std::string& file) const { return io::read_npy((out() / file).string()); }

std::vector<std::string> Workshop::files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(out()))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace ondula::test
