// The C interface: errors, and checks its calls share.
// SPDX-License-Identifier: MIT
#include "runtime/ondula/c_handles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <new>

#include "runtime/io/suggest.hpp"
#include "runtime/ondula/version.hpp"

namespace ondula::c {
namespace {

/// Leaves *error null where not even the message finds memory.
void describe(ondula_error** error, const char* message, const std::string& log = {},
              const std::string& path = {}) noexcept {
  if (error == nullptr) return;
  try {
    *error = std::make_unique<ondula_error>(ondula_error{message, log, path}).release();
  } catch (...) {
    *error = nullptr;
  }
}

}  // namespace

ondula_status status_of_exception(ondula_error** error) noexcept {
  try {
    throw;
  } catch (const UserError& e) {
    describe(error, e.what());
    return ONDULA_USER_ERROR;
  } catch (const CompileError& e) {
    describe(error, e.what(), e.log(), e.source_path());
    return ONDULA_COMPILE_ERROR;
  } catch (const Cancelled& e) {
    describe(error, e.what());
    return ONDULA_CANCELLED;
  } catch (const RuntimeError& e) {
    describe(error, e.what());
    return ONDULA_RUNTIME_ERROR;
  } catch (const std::bad_alloc&) {
    describe(error, "the host has no memory left");
    return ONDULA_RUNTIME_ERROR;
  } catch (const std::exception& e) {
    describe(error, e.what());
    return ONDULA_INTERNAL_ERROR;
  } catch (...) {
    describe(error, "an exception of no known kind");
    return ONDULA_INTERNAL_ERROR;
  }
}

void copy_out(const std::vector<double>& from, double* to, std::size_t count, const std::string& what) {
  if (count != from.size())
    throw UserError(fmt::format("{}: room for {} values, there are {}", what, count, from.size()));
  std::copy(from.begin(), from.end(), given(to, count, "values").begin());
}

std::size_t index_of(const std::string& what, const char* name, const std::vector<std::string>& known) {
  const std::string found = &given(name, what.c_str());
  const auto at = std::find(known.begin(), known.end(), found);
  if (at == known.end())
    throw UserError(fmt::format("{}: found \"{}\".{}", what, found, io::suggestion(found, known)));
  return static_cast<std::size_t>(at - known.begin());
}

}  // namespace ondula::c

extern "C" {

const char* ondula_version(void) { return ondula::version(); }

const char* ondula_error_message(const ondula_error* error) {
  return error != nullptr ? error->message.c_str() : "no error was given";
}
const char* ondula_error_log(const ondula_error* error) { return error != nullptr ? error->log.c_str() : ""; }
const char* ondula_error_source_path(const ondula_error* error) {
  return error != nullptr ? error->source_path.c_str() : "";
}
void ondula_error_free(ondula_error* error) { delete error; }

}  // extern "C"
