// Compiling and running sources that `ondula generate` writes.
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <string>

namespace ondula::test {

/// The status of a shell command in `folder`; what it prints is kept in output.txt there.
int shell(const std::filesystem::path& folder, const std::string& command);

/// The command with which the README.md in `folder` compiles the example; empty where it has none.
std::string readme_command(const std::filesystem::path& folder);

/// How far from the forward run's fields the example in `folder` says undoing its steps led, of a field's
/// largest value; infinity where output.txt does not say it.
double undone(const std::filesystem::path& folder);

/// Makes every warning an error, and tiles so small that a small grid has several.
extern const std::string strict_options;
/// g++ as the READMEs have it, but strict, and unoptimised to save time.
extern const std::string strict_compiler;
/// The same for CUDA sources that `on_cpu` has rewritten.
extern const std::string cuda_stand_in_compiler;

/// Writes NAME_cu.cpp for NAME.cu: kernel<<<...>>>(...) becomes a call of the stand-in (cuda_stand_in/),
/// which runs the threads one after the other. How many launches there were.
int on_cpu(const std::filesystem::path& folder, const std::string& name);

}  // namespace ondula::test
