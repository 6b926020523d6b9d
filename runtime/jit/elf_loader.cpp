// Loads relocatable x86-64 ELF objects: lays sections out, relocates them, protects the pages.
// SPDX-License-Identifier: MIT
#include "runtime/jit/elf_loader.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "compiler/error.hpp"
#include "runtime/jit/elf_symbols.hpp"

extern "C" {
// Of the compiler's support library: the unwinder, and objects with static storage.
void __register_frame(void*);
void __deregister_frame(void*);
void __cxa_finalize(void*);
}

namespace ondula::jit {
namespace {

constexpr const char* unwind_section = ".eh_frame";
constexpr const char* initialisers = ".init_array";
constexpr const char* module_handle = "__dso_handle";

[[noreturn]] void refuse(const std::string& reason) { throw InternalError("kernel object: " + reason); }

/// The three kinds of page, in the order they are laid out.
enum Protection { code, constant, variable, protections };

/// A view of the object that checks every access.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> object) : object_(object) {}

  /// `count` items of T from byte `offset`; `what` names them in the error.
  template <class T>
  std::vector<T> table(std::uint64_t offset, std::uint64_t count, const char* what) const {
    if (count > object_.size() / sizeof(T)) refuse(fmt::format("{} claims {} entries", what, count));
    const std::span<const std::byte> part = bytes(offset, count * sizeof(T), what);
    std::vector<T> items(count);
    if (count > 0) std::memcpy(items.data(), part.data(), part.size());
    return items;
  }

  std::span<const std::byte> bytes(std::uint64_t offset, std::uint64_t size, const char* what) const {
    if (offset > object_.size() || size > object_.size() - offset)
      refuse(
          fmt::format("{} at {} of {} bytes lies outside the {} bytes", what, offset, size, object_.size()));
    return object_.subspan(offset, size);
  }

 private:
  std::span<const std::byte> object_;
};

/// A zero-terminated name inside a string table.
std::string name_at(std::span<const std::byte> strings, std::uint64_t offset) {
  if (offset >= strings.size()) refuse(fmt::format("a name at {} lies outside its table", offset));
  const auto* start = reinterpret_cast<const char*>(strings.data()) + offset;
  const std::size_t length = strnlen(start, strings.size() - offset);
  if (length == strings.size() - offset) refuse("a name without an end");
  return {start, length};
}

/// One section and where it goes; `address` is null for sections that are not loaded.
struct Section {
  Elf64_Shdr header;
  Protection protection = constant;
  std::size_t offset = 0;
  std::byte* address = nullptr;
};

/// A symbol that code refers to, with the slots made for it.
struct Target {
  std::uint64_t value = 0;
  std::byte* address = nullptr;  ///< the value of a symbol that this object defines
  bool external = false;
  std::byte* trampoline = nullptr;  ///< a jump through the slot, for calls that cannot reach the value
  std::byte* slot = nullptr;        ///< the value, for accesses through a global offset table
};

std::string readable(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : name;
}

constexpr std::size_t trampoline_bytes = 16;  // jmp *slot(%rip), padded; its slot lies in the constants

std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

/// Builds one image: read, lay out, copy, relocate.
class Builder {
 public:
  Builder(std::span<const std::byte> object, const std::map<std::string, void*>& more,
          const ElfProgram* program)
      : reader_(object), page_(sysconf(_SC_PAGESIZE)), more_(more), program_(program) {
    read_sections();
    read_symbols();
    lay_out();
  }

  std::size_t size() const { return begin_[protections]; }

  void fill(std::byte* base) {
    base_ = base;
    for (Section& section : sections_) {
      if ((section.header.sh_flags & SHF_ALLOC) == 0) continue;
      section.address = base + begin_[section.protection] + section.offset;
      if (section.header.sh_type == SHT_NOBITS || section.header.sh_size == 0) continue;
      const auto from = reader_.bytes(section.header.sh_offset, section.header.sh_size, "a section");
      std::memcpy(section.address, from.data(), from.size());
    }
    resolve_symbols();
    for (const Section& section : sections_)
      if (section.header.sh_type == SHT_RELA) relocate(section.header);
  }

  void protect() const {
    constexpr int flags[] = {PROT_READ | PROT_EXEC, PROT_READ, PROT_READ | PROT_WRITE};
    for (int kind = code; kind < protections; ++kind) {
      const std::size_t length = begin_[kind + 1] - begin_[kind];
      if (length > 0 && mprotect(base_ + begin_[kind], length, flags[kind]) != 0)
        throw RuntimeError(
            fmt::format("mprotect of {} bytes of kernel code failed: {}", length, std::strerror(errno)));
    }
  }

  std::map<std::string, void*> exported() const {
    std::map<std::string, void*> names;
    for (std::size_t i = 0; i < symbols_.size(); ++i)
      if (ELF64_ST_BIND(symbols_[i].st_info) != STB_LOCAL && targets_[i].address != nullptr)
        names[name_at(strings_, symbols_[i].st_name)] = targets_[i].address;
    return names;
  }

  /// Tables of static initialisers; those of a priority have a number behind the name, and come first.
  std::vector<std::span<std::byte>> starting() const {
    std::multimap<std::string, std::span<std::byte>> numbered;
    std::vector<std::span<std::byte>> plain, all;
    for (const Section& section : sections_) {
      const std::string name = section.address == nullptr ? "" : section_name(section);
      if (!name.starts_with(initialisers)) continue;
      const std::span<std::byte> table(section.address, section.header.sh_size);
      if (name == initialisers)
        plain.push_back(table);
      else
        numbered.emplace(name, table);
    }
    for (const auto& [name, table] : numbered) all.push_back(table);
    all.insert(all.end(), plain.begin(), plain.end());
    return all;
  }

  std::map<std::string, std::span<std::byte>> loaded() const {
    std::map<std::string, std::span<std::byte>> found;
    for (const Section& section : sections_)
      if (section.address != nullptr && section.header.sh_size > 0)
        found[name_at(section_names_, section.header.sh_name)] = {section.address, section.header.sh_size};
    return found;
  }

 private:
  void read_sections();
  void read_symbols();
  void lay_out();
  void resolve_symbols();
  void relocate(const Elf64_Shdr& table);
  void apply(const Elf64_Rela& entry, Section& section);
  std::uint64_t external(const std::string& name, bool weak) const;
  std::string section_name(const Section& section) const {
    return name_at(section_names_, section.header.sh_name);
  }

  Reader reader_;
  std::size_t page_;
  std::byte* base_ = nullptr;
  std::vector<Section> sections_;
  std::vector<Elf64_Sym> symbols_;
  std::span<const std::byte> strings_, section_names_;
  const std::map<std::string, void*>& more_;
  const ElfProgram* program_;  ///< null: a kernel's
  std::vector<Target> targets_;
  std::size_t begin_[protections + 1] = {};  ///< where each kind of page starts, and the total
  std::size_t trampolines_ = 0, slots_ = 0;  ///< their offsets inside the code and the constants
};

void Builder::read_sections() {
  const Elf64_Ehdr header = reader_.table<Elf64_Ehdr>(0, 1, "the ELF header").front();
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) refuse("not an ELF file");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
      header.e_type != ET_REL || header.e_machine != EM_X86_64)
    refuse("not a relocatable x86-64 object");
  if (header.e_shentsize != sizeof(Elf64_Shdr))
    refuse(fmt::format("section headers of {} bytes", header.e_shentsize));
  for (const Elf64_Shdr& section :
       reader_.table<Elf64_Shdr>(header.e_shoff, header.e_shnum, "the section table")) {
    Section& added = sections_.emplace_back(Section{section});
    if ((section.sh_flags & SHF_ALLOC) == 0) continue;
    if ((section.sh_flags & SHF_TLS) != 0) {
      if (program_ != nullptr)
        throw UserError(program_->name + ": thread_local variables are not supported in an equation's file");
      refuse("thread-local data");
    }
    if (program_ == nullptr && (section.sh_type == SHT_INIT_ARRAY || section.sh_type == SHT_FINI_ARRAY ||
                                section.sh_type == SHT_PREINIT_ARRAY))
      refuse("code that runs on loading (static constructors)");
    const bool executable = (section.sh_flags & SHF_EXECINSTR) != 0,
               writable = (section.sh_flags & SHF_WRITE) != 0;
    if (executable && writable) refuse("a section that is both writable and executable");
    added.protection = executable ? code : writable ? variable : constant;
  }
  if (header.e_shstrndx >= sections_.size()) refuse("sections without names");
  const Elf64_Shdr& names = sections_[header.e_shstrndx].header;
  section_names_ = reader_.bytes(names.sh_offset, names.sh_size, "the names of sections");
}

void Builder::read_symbols() {
  for (const Section& section : sections_) {
    if (section.header.sh_type != SHT_SYMTAB) continue;
    if (!symbols_.empty()) refuse("two symbol tables");
    if (section.header.sh_entsize != sizeof(Elf64_Sym)) refuse("symbols of another size");
    symbols_ = reader_.table<Elf64_Sym>(section.header.sh_offset, section.header.sh_size / sizeof(Elf64_Sym),
                                        "the symbol table");
    if (section.header.sh_link >= sections_.size()) refuse("a symbol table without names");
    const Elf64_Shdr& names = sections_[section.header.sh_link].header;
    strings_ = reader_.bytes(names.sh_offset, names.sh_size, "the names of symbols");
  }
}

void Builder::lay_out() {
  constexpr std::uint64_t most = std::uint64_t{1} << 30;  // 32-bit displacements reach everywhere inside
  std::size_t end[protections] = {};
  for (Section& section : sections_) {
    const Elf64_Shdr& header = section.header;
    if ((header.sh_flags & SHF_ALLOC) == 0) continue;
    const std::uint64_t alignment = std::max<std::uint64_t>(header.sh_addralign, 1);
    if ((alignment & (alignment - 1)) != 0 || alignment > page_)
      refuse(fmt::format("an alignment of {}", alignment));
    if (header.sh_size > most) refuse(fmt::format("a section of {} bytes", header.sh_size));
    std::size_t& used = end[section.protection];
    section.offset = round_up(used, alignment);
    used = section.offset + header.sh_size;
    // The unwinder reads up to a zero, which a linker would have added.
    if (program_ != nullptr && section_name(section) == unwind_section) used += sizeof(std::uint32_t);
    if (used > most) refuse("more than 1 GiB of code or data");
  }
  trampolines_ = round_up(end[code], trampoline_bytes);
  slots_ = round_up(end[constant], sizeof(std::uint64_t));
  end[code] = trampolines_ + symbols_.size() * trampoline_bytes;
  end[constant] = slots_ + symbols_.size() * sizeof(std::uint64_t);
  for (int kind = code; kind < protections; ++kind)
    begin_[kind + 1] = begin_[kind] + round_up(end[kind], page_);
}

void Builder::resolve_symbols() {
  targets_.resize(symbols_.size());
  for (std::size_t i = 0; i < symbols_.size(); ++i) {
    const Elf64_Sym& symbol = symbols_[i];
    Target& target = targets_[i];
    target.slot = base_ + begin_[constant] + slots_ + i * sizeof(std::uint64_t);
    target.trampoline = base_ + begin_[code] + trampolines_ + i * trampoline_bytes;
    if (symbol.st_shndx == SHN_UNDEF) {
      target.external = true;
      if (i == 0) continue;  // the table's first entry stands for no symbol
      const std::string name = name_at(strings_, symbol.st_name);
      target.value = external(name, ELF64_ST_BIND(symbol.st_info) == STB_WEAK);
    } else if (symbol.st_shndx == SHN_ABS) {
      target.value = symbol.st_value;
    } else {
      if (symbol.st_shndx >= sections_.size())
        refuse(fmt::format("symbol {} in section {}", i, symbol.st_shndx));
      const Section& home = sections_[symbol.st_shndx];
      if (symbol.st_value > home.header.sh_size) refuse(fmt::format("symbol {} lies past its section", i));
      if (home.address == nullptr) continue;  // debug information and the like
      target.address = home.address + symbol.st_value;
      target.value = reinterpret_cast<std::uint64_t>(target.address);
    }
    std::memcpy(target.slot, &target.value, sizeof target.value);
    const auto distance = static_cast<std::int32_t>(target.slot - (target.trampoline + 6));
    const unsigned char jump[] = {0xff, 0x25};
    std::memcpy(target.trampoline, jump, sizeof jump);
    std::memcpy(target.trampoline + sizeof jump, &distance, sizeof distance);
  }
}

std::uint64_t Builder::external(const std::string& name, bool weak) const {
  const auto given = more_.find(name);
  if (given != more_.end()) return reinterpret_cast<std::uint64_t>(given->second);
  if (program_ == nullptr) {
    void* const known = external_symbol(name);
    if (known == nullptr)
      refuse(fmt::format("undefined symbol '{}': kernels may call {}", name, external_names()));
    return reinterpret_cast<std::uint64_t>(known);
  }
  if (name == module_handle) return reinterpret_cast<std::uint64_t>(base_);
  void* const known = program_->resolve(name);
  if (known == nullptr && !weak)
    throw UserError(
        fmt::format("{}: {} is declared and nowhere defined: an equation's file may call what it "
                    "defines, the C++ standard library, and Ondula's DSL",
                    program_->name, readable(name)));
  return reinterpret_cast<std::uint64_t>(known);
}

void Builder::relocate(const Elf64_Shdr& table) {
  if (table.sh_entsize != sizeof(Elf64_Rela)) refuse("relocations of another size");
  if (table.sh_info >= sections_.size()) refuse("relocations of no section");
  Section& section = sections_[table.sh_info];
  if (section.address == nullptr) return;
  for (const auto& entry :
       reader_.table<Elf64_Rela>(table.sh_offset, table.sh_size / sizeof(Elf64_Rela), "the relocations"))
    apply(entry, section);
}

void Builder::apply(const Elf64_Rela& entry, Section& section) {
  const std::uint64_t type = ELF64_R_TYPE(entry.r_info), index = ELF64_R_SYM(entry.r_info);
  const std::size_t width = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
  const std::uint64_t room = section.header.sh_type == SHT_NOBITS ? 0 : section.header.sh_size;
  if (entry.r_offset > room || width > room - entry.r_offset)
    refuse(fmt::format("a relocation at {} lies outside its section of {} bytes", entry.r_offset, room));
  if (index >= targets_.size()) refuse(fmt::format("a relocation to symbol {}", index));
  const Target& target = targets_[index];
  if (target.value == 0 && index != 0 && !(program_ != nullptr && target.external))
    refuse(fmt::format("a relocation to symbol {}, which is not loaded", index));

  std::byte* place = section.address + entry.r_offset;
  const auto here = reinterpret_cast<std::uint64_t>(place),
             addend = static_cast<std::uint64_t>(entry.r_addend);
  std::uint64_t value = target.value + addend;  // wraps as the processor does; the ranges are checked below
  switch (type) {
    case R_X86_64_64:
    case R_X86_64_32:
    case R_X86_64_32S:
      break;
    case R_X86_64_PC64:
    case R_X86_64_PC32:
      value -= here;
      break;
    case R_X86_64_PLT32:
      if (target.external) value = reinterpret_cast<std::uint64_t>(target.trampoline) + addend;
      value -= here;
      break;
    case R_X86_64_GOTPCREL:
    case R_X86_64_GOTPCRELX:
    case R_X86_64_REX_GOTPCRELX:
      value = reinterpret_cast<std::uint64_t>(target.slot) + addend - here;
      break;
    default:
      refuse(fmt::format("relocation type {}", type));
  }
  if (width == 4) {
    const auto as_signed = static_cast<std::int64_t>(value);
    const bool fits = type == R_X86_64_32 ? value <= std::numeric_limits<std::uint32_t>::max()
                                          : as_signed == static_cast<std::int32_t>(as_signed);
    if (!fits) refuse(fmt::format("relocation type {} does not reach symbol {}", type, index));
  }
  std::memcpy(place, &value, width);
}

}  // namespace

ElfImage::ElfImage(std::span<const std::byte> object, const std::map<std::string, void*>& more) {
  load(object, more, nullptr);
}

ElfImage::ElfImage(std::span<const std::byte> object, const ElfProgram& program) {
  load(object, {}, &program);
  try {
    initialise();
  } catch (...) {
    // What was thrown may be of the image's own types, which go with it.
    std::string what = "something that is no std::exception";
    try {
      throw;
    } catch (const std::exception& error) {
      what = error.what();
    } catch (...) {
    }
    retire();
    munmap(base_, size_);
    throw UserError(fmt::format("{}: a static initialiser threw: {}", program.name, what));
  }
}

void ElfImage::load(std::span<const std::byte> object, const std::map<std::string, void*>& more,
                    const ElfProgram* program) {
  Builder builder(object, more, program);
  size_ = builder.size();
  if (size_ == 0) refuse("nothing to load");
  void* mapped = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw RuntimeError(
        fmt::format("mmap of {} bytes for compiled code failed: {}", size_, std::strerror(errno)));
  base_ = static_cast<std::byte*>(mapped);
  try {
    builder.fill(base_);
    builder.protect();
    symbols_ = builder.exported();
    sections_ = builder.loaded();
    starts_ = builder.starting();
  } catch (...) {
    munmap(base_, size_);
    throw;
  }
}

void ElfImage::initialise() {
  program_ = true;
  const std::span<std::byte> unwind = section(unwind_section);
  if (!unwind.empty()) __register_frame(unwind.data());
  for (const std::span<std::byte> table : starts_) {
    for (std::size_t at = 0; at + sizeof(void*) <= table.size(); at += sizeof(void*)) {
      void (*function)(int, char**, char**) = nullptr;
      std::memcpy(&function, table.data() + at, sizeof function);
      if (function != nullptr) function(0, nullptr, nullptr);
    }
  }
}

void ElfImage::retire() noexcept {
  if (!program_) return;
  __cxa_finalize(base_);
  const std::span<std::byte> unwind = section(unwind_section);
  if (!unwind.empty()) __deregister_frame(unwind.data());
}

ElfImage::~ElfImage() {
  retire();
  munmap(base_, size_);
}

std::span<std::byte> ElfImage::section(const std::string& name) const {
  const auto found = sections_.find(name);
  return found == sections_.end() ? std::span<std::byte>() : found->second;
}

void* ElfImage::symbol(const std::string& name) const {
  const auto found = symbols_.find(name);
  return found == symbols_.end() ? nullptr : found->second;
}

}  // namespace ondula::jit
