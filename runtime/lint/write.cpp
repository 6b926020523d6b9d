// Writing fixes, never over another's changes.
// SPDX-License-Identifier: MIT
#include "runtime/lint/write.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "compiler/error.hpp"
#include "runtime/io/atomic_file.hpp"
#include "runtime/lint/edits.hpp"

namespace ondula::lint {
namespace {

namespace fs = std::filesystem;

std::string read(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

}  // namespace

std::size_t write_fixes(const std::string& file, const std::string& text,
                        const std::vector<Finding>& findings) {
  const Fixed result = fixed(file, text, findings);
  if (result.applied.empty()) return 0;
  std::error_code code;
  const fs::path path = fs::canonical(file, code);
  if (code || !fs::is_regular_file(path, code))
    throw UserError(fmt::format("{}: fixes are written into files only", file));
  const fs::perms rights = fs::status(path).permissions();
  if ((rights & (fs::perms::owner_write | fs::perms::group_write | fs::perms::others_write)) ==
      fs::perms::none)
    throw UserError(fmt::format("{} may not be written: nothing is fixed", file));
  io::AtomicFile output(path.string(), io::Existing::replace);
  output.write(std::as_bytes(std::span(result.text)));
  if (read(path) != text)
    throw UserError(fmt::format("{} has changed since it was read: nothing is written; lint it again", file));
  output.commit();
  fs::permissions(path, rights);
  return result.applied.size();
}

}  // namespace ondula::lint
