// A text compiled in parts: the frame around its objects, and modules of several.
// SPDX-License-Identifier: MIT
#include "runtime/jit/host_parts.hpp"

#include <doctest/doctest.h>

#include "compiler/error.hpp"
#include "tests/runtime/jit/support.hpp"
#include "tests/support/messages.hpp"

namespace ondula::test {
namespace {

std::vector<std::byte> bytes_of(const std::string& text) {
  std::vector<std::byte> bytes;
  for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

/// Two functions, each of a part, over one that both hold.
jit::HostSource two_parts(const std::string& first = "twice(x)") {
  jit::HostSource source;
  source.text =
      "static inline int twice(int x) { return 2 * x; }\n"
      "#if !defined(ONDULA_PART) || ONDULA_PART == 0\n"
      "extern \"C\" int first(int x) { return " +
      first +
      "; }\n#endif\n"
      "#if !defined(ONDULA_PART) || ONDULA_PART == 1\n"
      "extern \"C\" int second(int x) { return twice(x) + 1; }\n#endif\n";
  source.equation = "parts";
  source.parts = 2;
  return source;
}

void check_both(const jit::HostModule& module) {
  using Function = int (*)(int);
  CHECK(module.symbols() == std::vector<std::string>{"first", "second"});
  CHECK(reinterpret_cast<Function>(module.symbol("first"))(3) == 6);
  CHECK(reinterpret_cast<Function>(module.symbol("second"))(3) == 7);
}

}  // namespace

TEST_CASE("jit: objects of a text's parts come out of the payload as they went in") {
  for (const std::vector<std::string>& texts :
       {std::vector<std::string>{"one"}, {"one", ""}, {"", "two"}, {"a", "four", "sixteen bytes 16"}}) {
    std::vector<std::vector<std::byte>> objects;
    for (const std::string& text : texts) objects.push_back(bytes_of(text));
    const std::vector<std::byte> payload = jit::joined_parts(objects);
    const auto parts = jit::split_parts(payload);
    REQUIRE(parts.size() == objects.size());
    for (std::size_t i = 0; i < parts.size(); ++i)
      CHECK(std::vector<std::byte>(parts[i].begin(), parts[i].end()) == objects[i]);
  }
}

TEST_CASE("jit: a damaged table of parts is refused, wherever it is cut or says too much") {
  const std::vector<std::byte> payload = jit::joined_parts({bytes_of("first object"), bytes_of("second")});
  for (std::size_t size = 16; size + 16 < payload.size(); ++size)
    CHECK_THROWS_AS(jit::split_parts(std::span(payload).first(size)), const InternalError&);
  for (const std::size_t at : {std::size_t{15}, std::size_t{23}, std::size_t{31}}) {
    std::vector<std::byte> damaged = payload;
    damaged[at] = std::byte{0x7f};  // the highest byte of the count, and of either size
    CHECK_THROWS_AS(jit::split_parts(damaged), const InternalError&);
  }
}

TEST_CASE("jit: a text in two parts gives both, compiled and from the cache") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  for (const bool compiled : {true, false}) {
    jit::HostCompiler compiler(cache_in(directory));
    const auto module = compiler.compile(two_parts());
    CHECK(module->record().compiled == compiled);
    check_both(*module);
  }
  jit::HostSource whole = two_parts();
  whole.parts = 1;
  jit::HostCompiler compiler(cache_in(directory));
  CHECK(compiler.key_of(whole) != compiler.key_of(two_parts()));
  check_both(*compiler.compile(whole));
}

TEST_CASE("jit: a fault in one part is the text's, told once where all parts share it") {
  ONDULA_NEEDS_CLANG();
  const TemporaryDirectory directory;
  jit::HostCompiler compiler(cache_in(directory));
  const std::string alone = message_of<CompileError>([&] { compiler.compile(two_parts("missing")); });
  CHECK(alone.find("use of undeclared identifier 'missing'") != std::string::npos);
  jit::HostSource shared = two_parts();
  shared.text = "int broken = nothing;\n" + shared.text;
  const std::string message = message_of<CompileError>([&] { compiler.compile(shared); });
  const std::string fault = "use of undeclared identifier 'nothing'";
  REQUIRE(message.find(fault) != std::string::npos);
  CHECK(message.find(fault, message.find(fault) + 1) == std::string::npos);
}

}  // namespace ondula::test
