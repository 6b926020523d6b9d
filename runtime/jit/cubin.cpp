// A small ELF reader for cubins, and of the attributes in their .nv.info sections.
// SPDX-License-Identifier: MIT
#include "runtime/jit/cubin.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <string_view>

#include "compiler/error.hpp"

namespace ondula::jit {
namespace {

[[noreturn]] void refuse(const std::string& reason) { throw InternalError("cubin: " + reason); }

template <class T>
T read_at(std::span<const std::byte> bytes, std::uint64_t at, const char* what) {
  T value;
  if (at > bytes.size() || bytes.size() - at < sizeof value) refuse(fmt::format("{} lies outside", what));
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string string_at(std::span<const std::byte> table, std::uint64_t at) {
  if (at >= table.size()) refuse("a name lies outside its table");
  const auto* text = reinterpret_cast<const char*>(table.data()) + at;
  return {text, strnlen(text, table.size() - at)};
}

struct Section {
  std::string name;
  Elf64_Shdr header = {};
  std::span<const std::byte> bytes;  ///< empty for SHT_NOBITS
};

std::vector<Section> sections_of(std::span<const std::byte> cubin, const Elf64_Ehdr& header) {
  std::vector<Section> sections(header.e_shnum);
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Section& section = sections[i];
    section.header = read_at<Elf64_Shdr>(cubin, header.e_shoff + i * sizeof(Elf64_Shdr), "a section header");
    if (section.header.sh_type == SHT_NOBITS || section.header.sh_type == SHT_NULL) continue;
    if (section.header.sh_offset > cubin.size() ||
        section.header.sh_size > cubin.size() - section.header.sh_offset)
      refuse(fmt::format("section {} lies outside the file", i));
    section.bytes = cubin.subspan(section.header.sh_offset, section.header.sh_size);
  }
  if (header.e_shstrndx >= sections.size()) refuse("there is no table of section names");
  const auto names = sections[header.e_shstrndx].bytes;
  for (Section& section : sections)
    if (section.header.sh_type != SHT_NULL) section.name = string_at(names, section.header.sh_name);
  return sections;
}

/// One attribute of a .nv.info section.
struct Attribute {
  unsigned code = 0;
  unsigned value = 0;                ///< of the short formats
  std::span<const std::byte> bytes;  ///< of the long one
};

// Codes of .nv.info, and the format byte before them.
constexpr unsigned max_threads_code = 0x05, frame_size_code = 0x11, parameter_size_code = 0x19,
                   registers_code = 0x2f;
constexpr unsigned long_format = 4;

std::vector<Attribute> attributes_of(std::span<const std::byte> info) {
  std::vector<Attribute> attributes;
  for (std::uint64_t at = 0; at < info.size();) {
    const auto head = read_at<std::array<std::uint8_t, 4>>(info, at, "an attribute");
    Attribute attribute;
    attribute.code = head[1];
    attribute.value = head[2] | static_cast<unsigned>(head[3]) << 8;
    at += head.size();
    if (head[0] == long_format) {
      if (attribute.value > info.size() - at) refuse("an attribute lies outside its section");
      attribute.bytes = info.subspan(at, attribute.value);
      at += attribute.value;
    }
    attributes.push_back(attribute);
  }
  return attributes;
}

/// Names of the symbols, by index.
std::vector<std::string> symbols_of(const std::vector<Section>& sections) {
  for (const Section& section : sections) {
    if (section.header.sh_type != SHT_SYMTAB) continue;
    if (section.header.sh_link >= sections.size()) refuse("the symbols have no names");
    std::vector<std::string> names(section.bytes.size() / sizeof(Elf64_Sym));
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto symbol = read_at<Elf64_Sym>(section.bytes, i * sizeof(Elf64_Sym), "a symbol");
      names[i] = string_at(sections[section.header.sh_link].bytes, symbol.st_name);
    }
    return names;
  }
  refuse("there are no symbols");
}

/// Attributes of the file as a whole name their kernel by symbol.
void read_file_attributes(const Section& section, const std::vector<std::string>& symbols,
                          std::map<std::string, KernelUse>& kernels) {
  for (const Attribute& attribute : attributes_of(section.bytes)) {
    if (attribute.code != registers_code && attribute.code != frame_size_code) continue;
    const auto symbol = read_at<std::uint32_t>(attribute.bytes, 0, "an attribute's symbol");
    const auto value = read_at<std::uint32_t>(attribute.bytes, 4, "an attribute's value");
    if (symbol >= symbols.size()) refuse("an attribute names no symbol");
    const auto kernel = kernels.find(symbols[symbol]);
    if (kernel == kernels.end()) continue;  // of a function that is called
    if (attribute.code == registers_code) kernel->second.registers = static_cast<int>(value);
    if (attribute.code == frame_size_code) kernel->second.stack_bytes = value;
  }
}

void read_kernel_attributes(const Section& section, KernelUse& kernel) {
  for (const Attribute& attribute : attributes_of(section.bytes)) {
    if (attribute.code == parameter_size_code) kernel.parameter_bytes = attribute.value;
    if (attribute.code == max_threads_code) {
      kernel.max_threads = 1;
      for (std::uint64_t axis = 0; axis < 3; ++axis)
        kernel.max_threads *=
            static_cast<int>(read_at<std::uint32_t>(attribute.bytes, 4 * axis, "launch bounds"));
    }
  }
}

/// The part of a section's name after `prefix`; empty where the name starts otherwise.
std::string after(const std::string& name, std::string_view prefix) {
  return name.starts_with(prefix) ? name.substr(prefix.size()) : "";
}

int capability_of(const Elf64_Ehdr& header) {
  // Files of CUDA 13 say it one byte higher than those before.
  constexpr unsigned char shifted_from = 8;
  return static_cast<int>(header.e_ident[EI_ABIVERSION] >= shifted_from ? header.e_flags >> 8 & 0xff
                                                                        : header.e_flags & 0xff);
}

}  // namespace

CubinUse read_cubin(std::span<const std::byte> cubin) {
  const auto header = read_at<Elf64_Ehdr>(cubin, 0, "the header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_CUDA ||
      header.e_ident[EI_CLASS] != ELFCLASS64)
    refuse("no ELF file for CUDA");
  if (header.e_phoff > cubin.size() || cubin.size() - header.e_phoff < header.e_phnum * sizeof(Elf64_Phdr))
    refuse("the program headers lie outside");
  const std::vector<Section> sections = sections_of(cubin, header);
  const std::vector<std::string> symbols = symbols_of(sections);
  CubinUse use;
  use.capability = capability_of(header);
  std::map<std::string, KernelUse> kernels;
  for (const Section& section : sections) {
    const std::string name = after(section.name, ".text.");
    if (name.empty()) continue;
    KernelUse& kernel = kernels[name];
    kernel.name = name;
    kernel.code_bytes = static_cast<std::int64_t>(section.bytes.size());
    kernel.code = summarize_sass(section.bytes, use.capability);
  }
  // From Hopper on the first KiB of a block's shared memory is the system's, and counted in.
  constexpr int reserves_from = 90;
  constexpr std::int64_t reserved = 1024;
  for (const Section& section : sections) {
    const auto size = static_cast<std::int64_t>(section.header.sh_size);
    if (section.name == ".nv.info") read_file_attributes(section, symbols, kernels);
    if (section.name == ".nv.constant3") use.constant_bytes = size;
    if (const auto kernel = kernels.find(after(section.name, ".nv.info.")); kernel != kernels.end())
      read_kernel_attributes(section, kernel->second);
    if (const auto kernel = kernels.find(after(section.name, ".nv.shared.")); kernel != kernels.end())
      kernel->second.shared_bytes = use.capability >= reserves_from ? size - reserved : size;
  }
  for (auto& [name, kernel] : kernels) use.kernels.push_back(std::move(kernel));
  return use;
}

}  // namespace ondula::jit
