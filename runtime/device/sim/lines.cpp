// A reader of DWARF 4 line tables, for what Clang writes into our objects.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/lines.hpp"

#include <elf.h>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace ondula::sim {
namespace {

/// Thrown and caught in this file only.
struct Unreadable : std::runtime_error {
  Unreadable() : std::runtime_error("line table") {}
};

/// Bytes read from front to back.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  T get() {
    T value;
    if (bytes_.size() - at_ < sizeof value) throw Unreadable();
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t unsigned_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = get<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  std::int64_t signed_number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const auto byte = get<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fU} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if ((byte & 0x40) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
  }
  std::string text() {
    std::string value;
    for (char c = get<char>(); c != 0; c = get<char>()) value += c;
    return value;
  }
  std::size_t at() const { return at_; }
  void go(std::size_t to) {
    if (to > bytes_.size()) throw Unreadable();
    at_ = to;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

/// A section's place in the object's table, and its bytes.
struct Section {
  unsigned index = 0;
  std::span<const std::byte> bytes;
};

Section section_of(std::span<const std::byte> object, const std::string& name, unsigned type) {
  Cursor head(object);
  const auto header = head.get<Elf64_Ehdr>();
  const auto section = [&](unsigned i) {
    Cursor cursor(object);
    cursor.go(header.e_shoff + i * sizeof(Elf64_Shdr));
    return cursor.get<Elf64_Shdr>();
  };
  const std::uint64_t names = section(header.e_shstrndx).sh_offset;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr found = section(i);
    Cursor cursor(object);
    cursor.go(names + found.sh_name);
    if (found.sh_type != type || cursor.text() != name) continue;
    if (found.sh_offset > object.size() || found.sh_size > object.size() - found.sh_offset)
      throw Unreadable();
    return {i, object.subspan(found.sh_offset, found.sh_size)};
  }
  throw Unreadable();
}

/// The addresses in the table are relocations. By place: what is added to .text; those against other
/// sections, where functions stand that no kernel calls, are none of ours.
std::map<std::uint64_t, std::uint64_t> addends_of(std::span<const std::byte> object) {
  const std::span<const std::byte> relocations = section_of(object, ".rela.debug_line", SHT_RELA).bytes;
  const unsigned text = section_of(object, ".text", SHT_PROGBITS).index;
  Cursor symbols(section_of(object, ".symtab", SHT_SYMTAB).bytes);
  std::map<std::uint64_t, std::uint64_t> addends;
  for (Cursor cursor(relocations); cursor.at() < relocations.size();) {
    const auto entry = cursor.get<Elf64_Rela>();
    symbols.go(ELF64_R_SYM(entry.r_info) * sizeof(Elf64_Sym));
    const auto symbol = symbols.get<Elf64_Sym>();
    if (symbol.st_shndx == text)
      addends[entry.r_offset] = symbol.st_value + static_cast<std::uint64_t>(entry.r_addend);
  }
  return addends;
}

/// The line program's machine, and the table it writes.
class Machine {
 public:
  Machine(std::span<const std::byte> table, std::map<std::uint64_t, std::uint64_t> addends,
          const std::string& name)
      : cursor_(table), addends_(std::move(addends)), name_(name) {}

  Lines run() {
    read_header();
    while (cursor_.at() < end_) step();
    return std::move(lines_);
  }

 private:
  void read_header() {
    const auto length = cursor_.get<std::uint32_t>();
    end_ = cursor_.at() + length;
    if (cursor_.get<std::uint16_t>() != 4) throw Unreadable();
    const auto rest = cursor_.get<std::uint32_t>();
    const std::size_t program = cursor_.at() + rest;
    least_ = cursor_.get<std::uint8_t>();
    cursor_.get<std::uint16_t>();  // operations per instruction, whether rows are statements
    base_ = cursor_.get<std::int8_t>();
    range_ = cursor_.get<std::uint8_t>();
    if (range_ == 0) throw Unreadable();
    const auto opcodes = cursor_.get<std::uint8_t>();
    for (unsigned i = 1; i < opcodes; ++i) lengths_.push_back(cursor_.get<std::uint8_t>());
    while (!cursor_.text().empty()) {
    }
    for (std::string file = cursor_.text(); !file.empty(); file = cursor_.text()) {
      files_.push_back(file);
      for (int i = 0; i < 3; ++i) cursor_.unsigned_number();
    }
    cursor_.go(program);
  }

  void put(bool ends = false) {
    if (!ours_) return;
    if (!ends && line_ == 0) return;  // code of no line, or of several: the line before goes on
    const bool known = !ends && file_ >= 1 && file_ <= files_.size() && name_.ends_with(files_[file_ - 1]);
    lines_[address_] = known ? static_cast<unsigned>(line_) : 0;
  }

  void step() {
    const auto opcode = cursor_.get<std::uint8_t>();
    if (opcode > lengths_.size()) {
      const unsigned adjusted = opcode - static_cast<unsigned>(lengths_.size()) - 1;
      address_ += adjusted / range_ * least_;
      line_ += base_ + static_cast<std::int64_t>(adjusted % range_);
      put();
      return;
    }
    // The standard's numbers of the opcodes (DWARF 4, 6.2.5.2).
    switch (opcode) {
      case 0:
        return extended();
      case 1:
        return put();
      case 2:
        address_ += cursor_.unsigned_number() * least_;
        return;
      case 3:
        line_ += cursor_.signed_number();
        return;
      case 4:
        file_ = cursor_.unsigned_number();
        return;
      case 8:
        address_ += (255 - lengths_.size() - 1) / range_ * least_;
        return;
      case 9:
        address_ += cursor_.get<std::uint16_t>();
        return;
      default:
        for (unsigned i = 0; i < lengths_[opcode - 1U]; ++i) cursor_.unsigned_number();
    }
  }

  void extended() {
    const std::uint64_t length = cursor_.unsigned_number();
    const std::size_t next = cursor_.at() + length;
    const auto opcode = cursor_.get<std::uint8_t>();
    if (opcode == 1) {
      put(true);
      address_ = 0;
      file_ = 1;
      line_ = 1;
    } else if (opcode == 2) {
      const auto addend = addends_.find(cursor_.at());
      ours_ = addend != addends_.end();
      address_ = ours_ ? addend->second : 0;
    }
    cursor_.go(next);
  }

  Cursor cursor_;
  std::map<std::uint64_t, std::uint64_t> addends_;
  const std::string& name_;
  std::size_t end_ = 0;
  std::uint64_t least_ = 1, address_ = 0, file_ = 1;
  std::int64_t base_ = 0, line_ = 1;
  unsigned range_ = 1;
  bool ours_ = false;  ///< the sequence is of .text
  std::vector<std::uint8_t> lengths_;
  std::vector<std::string> files_;
  Lines lines_;
};

}  // namespace

Lines read_lines(std::span<const std::byte> object, const std::string& name) {
  try {
    return Machine(section_of(object, ".debug_line", SHT_PROGBITS).bytes, addends_of(object), name).run();
  } catch (const Unreadable&) {
    return {};
  }
}

unsigned line_at(const Lines& lines, std::uint64_t offset) {
  const auto after = lines.upper_bound(offset);
  return after == lines.begin() ? 0 : std::prev(after)->second;
}

}  // namespace ondula::sim
