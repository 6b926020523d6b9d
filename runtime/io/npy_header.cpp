// The header of a .npy file: a Python dictionary in text, read and written.
// SPDX-License-Identifier: MIT
#include "runtime/io/npy_header.hpp"

#include <fmt/format.h>

#include <bit>
#include <cctype>
#include <cstdlib>
#include <string_view>

#include "compiler/error.hpp"
#include "runtime/io/npy.hpp"

namespace ondula::io {

namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

/// A reader of the few Python literals a header may hold: strings, True, False, and a tuple of integers.
class Literals {
 public:
  Literals(std::string text, const std::string& path) : text_(std::move(text)), path_(path) {}

  bool accept(char wanted) {
    skip_space();
    if (at_ < text_.size() && text_[at_] == wanted) return ++at_, true;
    return false;
  }
  void expect(char wanted) {
    if (!accept(wanted)) fail(fmt::format("expected '{}'", wanted));
  }
  bool next_is(char wanted) {
    skip_space();
    return at_ < text_.size() && text_[at_] == wanted;
  }
  std::string string() {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') fail("expected a string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string::npos) fail("a string does not end");
    std::string value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }
  bool truth() {
    skip_space();
    for (const std::string_view word : {"True", "False"})
      if (text_.compare(at_, word.size(), word) == 0) return at_ += word.size(), word == "True";
    fail("expected True or False");
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(integer());
      if (!accept(',') && !next_is(')')) fail("expected ',' or ')'");
    }
    return values;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw UserError(
        fmt::format("{}: malformed .npy header, {} at character {} of {}", path_, what, at_, text_));
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  std::int64_t integer() {
    skip_space();
    std::size_t end = at_;
    while (end < text_.size() && std::isdigit(static_cast<unsigned char>(text_[end])) != 0) ++end;
    if (end == at_ || end - at_ > 18) fail("expected an extent of at most 18 digits");
    const std::int64_t value = std::strtoll(text_.c_str() + at_, nullptr, 10);
    at_ = end;
    accept('L');  // NumPy under Python 2 wrote long integers so
    return value;
  }

  std::string text_;
  const std::string& path_;
  std::size_t at_ = 0;
};

NumberFormat parse_type(const std::string& text, const std::string& path) {
  const auto refuse = [&](const std::string& why) -> UserError {
    return UserError(
        fmt::format("{}: holds {} (type '{}'); allowed are real numbers: float16 to float64, int8 to "
                    "int64, uint8 to uint64, bool",
                    path, why, text));
  };
  if (text.size() < 2) throw refuse("an unknown type");
  std::string_view rest = text;
  NumberFormat format;
  format.big_endian = rest[0] == '>' || (rest[0] == '=' && std::endian::native == std::endian::big);
  if (std::string_view("<>=|").find(rest[0]) != std::string_view::npos) rest.remove_prefix(1);
  format.kind = rest[0];
  if (format.kind == 'O') throw refuse("Python objects, not numbers");
  if (format.kind == 'c') throw refuse("complex numbers");
  if (format.kind == 'S' || format.kind == 'U' || format.kind == 'a') throw refuse("strings");
  if (format.kind == 'V') throw refuse("records without a type");
  if (format.kind == 'M' || format.kind == 'm') throw refuse("dates");
  format.bytes = std::atoi(std::string(rest.substr(1)).c_str());
  const bool power = format.bytes == 1 || format.bytes == 2 || format.bytes == 4 || format.bytes == 8;
  const bool known = (format.kind == 'f' && power && format.bytes > 1) ||
                     ((format.kind == 'i' || format.kind == 'u') && power) ||
                     (format.kind == 'b' && format.bytes == 1);
  if (!known) throw refuse("an unknown type");
  return format;
}

/// The dictionary's text, after the magic and version; `offset` becomes the position of the data.
std::string read_dictionary(std::istream& stream, const std::string& path, std::int64_t& offset) {
  char head[8];
  stream.read(head, sizeof head);
  const auto got = static_cast<std::size_t>(stream.gcount());
  if (got < magic.size() || std::string_view(head, magic.size()) != magic)
    throw UserError(
        fmt::format("{} is not a .npy file: it starts with {} bytes other than \\x93NUMPY{}", path, got,
                    got >= 2 && head[0] == 'P' && head[1] == 'K' ? " (it looks like a .npz archive)" : ""));
  const int major = got == 8 ? static_cast<unsigned char>(head[6]) : 0;
  if (got < 8 || major < 1 || major > 3)
    throw UserError(fmt::format("{}: .npy format version {}; versions 1 to 3 are read", path, major));
  unsigned char size[4] = {0, 0, 0, 0};
  const std::streamsize width = major == 1 ? 2 : 4;
  stream.read(reinterpret_cast<char*>(size), width);
  const std::size_t length =
      size[0] + (std::size_t{size[1]} << 8) + (std::size_t{size[2]} << 16) + (std::size_t{size[3]} << 24);
  constexpr std::size_t longest =
      1 << 20;  // far above any array's header; bounds what a corrupt length makes us read
  if (!stream || length > longest) throw UserError(fmt::format("{}: truncated or corrupt .npy header", path));
  std::string text(length, ' ');
  stream.read(text.data(), static_cast<std::streamsize>(length));
  if (!stream)
    throw UserError(fmt::format("{}: truncated in its .npy header, expected {} bytes of header, found {}",
                                path, length, stream.gcount()));
  offset = 8 + width + static_cast<std::int64_t>(length);
  return text;
}

}  // namespace

NpyHeader parse_npy_header(std::istream& stream, const std::string& path) {
  NpyHeader header;
  Literals literals(read_dictionary(stream, path, header.data_offset), path);
  bool type = false;
  bool order = false;
  bool shape = false;
  literals.expect('{');
  while (!literals.accept('}')) {
    const std::string key = literals.string();
    literals.expect(':');
    if (key == "descr") {
      if (literals.next_is('['))
        throw UserError(fmt::format("{}: holds records of several fields; save one field", path));
      header.format = parse_type(literals.string(), path);
      type = true;
    } else if (key == "fortran_order") {
      header.fortran_order = literals.truth();
      order = true;
    } else if (key == "shape") {
      header.shape = literals.tuple();
      shape = true;
    } else {
      literals.fail(fmt::format("unknown key '{}'", key));
    }
    if (!literals.accept(',') && !literals.next_is('}')) literals.fail("expected ',' or '}'");
  }
  if (!type || !order || !shape) literals.fail("descr, fortran_order or shape is missing");
  return header;
}

std::string npy_header_text(std::span<const std::int64_t> shape, DType dtype) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}",
                                 dtype == DType::float32 ? "<f4" : "<f8", shape_text(shape));
  constexpr std::size_t before = 10;  // magic, version, length
  text.append(63 - (before + text.size()) % 64, ' ');
  text.push_back('\n');
  std::string header(magic);
  header.append({'\x01', '\x00', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)});
  return header + text;
}

}  // namespace ondula::io
