// Writing and reading the stand-in's binaries.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/binary.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "compiler/error.hpp"

namespace ondula::sim {
namespace {

constexpr const char* payload_section = ".ondula.sim";
constexpr std::uint32_t format_version = 1;

/// Before the payload's JSON and object.
struct PayloadHead {
  std::uint32_t version = format_version;
  std::uint32_t json_bytes = 0;
  std::uint64_t checksum = 0;  ///< of all that follows
};

[[noreturn]] void refuse(const std::string& reason) {
  throw RuntimeError("not a binary of the stand-in CUDA driver: " + reason);
}

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

/// Collects sections, then lays the file out with its section table last.
class ElfWriter {
 public:
  explicit ElfWriter(int capability) : capability_(capability) { sections_.push_back({}); }

  void add(const std::string& name, std::uint32_t type, std::vector<std::byte> bytes, std::uint64_t size,
           std::uint32_t link = 0) {
    Elf64_Shdr header = {};
    header.sh_name = static_cast<std::uint32_t>(names_.size());
    names_ += name + '\0';
    header.sh_type = type;
    header.sh_size = size;
    header.sh_link = link;
    header.sh_addralign = 8;
    sections_.push_back({header, std::move(bytes)});
  }
  void add(const std::string& name, std::uint32_t type, std::vector<std::byte> bytes,
           std::uint32_t link = 0) {
    const std::uint64_t size = bytes.size();
    add(name, type, std::move(bytes), size, link);
  }
  std::uint32_t next() const { return static_cast<std::uint32_t>(sections_.size()); }

  std::vector<std::byte> file() {
    std::vector<std::byte> names(names_.size() + sizeof ".shstrtab");
    std::memcpy(names.data(), names_.data(), names_.size());
    std::memcpy(names.data() + names_.size(), ".shstrtab", sizeof ".shstrtab");
    add(".shstrtab", SHT_STRTAB, std::move(names));
    std::vector<std::byte> out(sizeof(Elf64_Ehdr));
    for (Section& section : sections_) {
      out.resize((out.size() + 7) / 8 * 8);
      section.header.sh_offset = out.size();
      out.insert(out.end(), section.bytes.begin(), section.bytes.end());
    }
    out.resize((out.size() + 7) / 8 * 8);
    const Elf64_Ehdr header = head(out.size());
    std::memcpy(out.data(), &header, sizeof header);
    for (const Section& section : sections_) append(out, section.header);
    return out;
  }

 private:
  struct Section {
    Elf64_Shdr header = {};
    std::vector<std::byte> bytes;
  };

  Elf64_Ehdr head(std::size_t table) const {
    constexpr unsigned char abi_with_shifted_capability = 8;
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_ABIVERSION] = abi_with_shifted_capability;
    header.e_type = ET_EXEC;
    header.e_machine = EM_CUDA;
    header.e_version = EV_CURRENT;
    header.e_shoff = table;
    header.e_flags = static_cast<std::uint32_t>(capability_) << 8;
    header.e_ehsize = sizeof(Elf64_Ehdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<std::uint16_t>(sections_.size());
    header.e_shstrndx = static_cast<std::uint16_t>(sections_.size() - 1);
    return header;
  }

  int capability_;
  std::string names_ = std::string(1, '\0');
  std::vector<Section> sections_;
};

/// The attributes of a kernel's .nv.info section.
std::vector<std::byte> kernel_info(const BinaryKernel& kernel) {
  constexpr std::uint8_t short_format = 3, long_format = 4, parameter_size = 0x19, max_threads = 0x05;
  std::vector<std::byte> info;
  append(info, short_format);
  append(info, parameter_size);
  append(info, static_cast<std::uint16_t>(kernel.argument_bytes));
  if (kernel.threads_bound > 0) {
    append(info, long_format);
    append(info, max_threads);
    append(info, std::uint16_t{12});
    for (const std::uint32_t threads : {static_cast<std::uint32_t>(kernel.threads_bound), 1U, 1U})
      append(info, threads);
  }
  return info;
}

std::vector<std::byte> payload_of(const Binary& binary) {
  nlohmann::json json;
  json["capability"] = binary.capability;
  json["name"] = binary.name;
  json["text"] = binary.text;
  json["arguments"] = binary.arguments;
  json["kernels"] = nlohmann::json::array();
  for (const BinaryKernel& kernel : binary.kernels)
    json["kernels"].push_back({{"name", kernel.name},
                               {"parameters", kernel.parameters},
                               {"barriers", kernel.barriers},
                               {"threads_bound", kernel.threads_bound},
                               {"blocks_bound", kernel.blocks_bound},
                               {"argument_bytes", kernel.argument_bytes},
                               {"shared_bytes", kernel.shared_bytes}});
  // Not the strict handler: a text may hold any bytes.
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::vector<std::byte> rest(text.size());
  std::memcpy(rest.data(), text.data(), text.size());
  rest.insert(rest.end(), binary.object.begin(), binary.object.end());
  PayloadHead head;
  head.json_bytes = static_cast<std::uint32_t>(text.size());
  head.checksum = XXH3_64bits(rest.data(), rest.size());
  std::vector<std::byte> payload;
  append(payload, head);
  payload.insert(payload.end(), rest.begin(), rest.end());
  return payload;
}

template <class T>
T read_at(std::span<const std::byte> bytes, std::uint64_t at, const char* what) {
  T value;
  if (at > bytes.size() || bytes.size() - at < sizeof value) refuse(fmt::format("{} lies outside", what));
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::span<const std::byte> section_bytes(std::span<const std::byte> file, const Elf64_Shdr& section) {
  if (section.sh_offset > file.size() || section.sh_size > file.size() - section.sh_offset)
    refuse("a section lies outside the file");
  return file.subspan(section.sh_offset, section.sh_size);
}

/// The payload section's bytes.
std::span<const std::byte> find_payload(std::span<const std::byte> file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0, "the header");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != EM_CUDA)
    refuse("no ELF file for CUDA");
  const auto at = [&](unsigned i) {
    return read_at<Elf64_Shdr>(file, header.e_shoff + i * sizeof(Elf64_Shdr), "a section header");
  };
  const auto names = section_bytes(file, at(header.e_shstrndx));
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const Elf64_Shdr section = at(i);
    if (section.sh_name >= names.size()) refuse("a section's name lies outside");
    const auto* name = reinterpret_cast<const char*>(names.data()) + section.sh_name;
    if (std::string(name, strnlen(name, names.size() - section.sh_name)) == payload_section)
      return section_bytes(file, section);
  }
  refuse("it is a cubin for a GPU, which a CPU cannot run");
}

}  // namespace

std::vector<std::byte> write_binary(const Binary& binary) {
  ElfWriter writer(binary.capability);
  std::vector<std::byte> strings(1), symbols(sizeof(Elf64_Sym));
  for (const BinaryKernel& kernel : binary.kernels) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<std::uint32_t>(strings.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    append(symbols, symbol);
    const auto* name = reinterpret_cast<const std::byte*>(kernel.name.c_str());
    strings.insert(strings.end(), name, name + kernel.name.size() + 1);
  }
  const std::uint32_t table = writer.next();
  writer.add(".strtab", SHT_STRTAB, std::move(strings));
  writer.add(".symtab", SHT_SYMTAB, std::move(symbols), table);
  // As cubins have it from Hopper on: the first KiB is the system's.
  const std::int64_t reserved = binary.capability >= 90 ? 1024 : 0;
  for (const BinaryKernel& kernel : binary.kernels) {
    writer.add(".text." + kernel.name, SHT_PROGBITS, {});
    writer.add(".nv.info." + kernel.name, SHT_PROGBITS, kernel_info(kernel));
    if (kernel.shared_bytes > 0)
      writer.add(".nv.shared." + kernel.name, SHT_NOBITS, {},
                 static_cast<std::uint64_t>(kernel.shared_bytes + reserved));
  }
  writer.add(payload_section, SHT_PROGBITS, payload_of(binary));
  return writer.file();
}

Binary read_binary(std::span<const std::byte> bytes) {
  const auto payload = find_payload(bytes);
  const auto head = read_at<PayloadHead>(payload, 0, "its head");
  if (head.version != format_version)
    refuse(fmt::format("its format is {}, this one reads {}", head.version, format_version));
  const auto rest = payload.subspan(sizeof head);
  if (head.json_bytes > rest.size() || XXH3_64bits(rest.data(), rest.size()) != head.checksum)
    refuse("it is damaged");
  Binary binary;
  try {
    const auto* begin = reinterpret_cast<const char*>(rest.data());
    const auto json = nlohmann::json::parse(begin, begin + head.json_bytes);
    binary.capability = json.at("capability");
    binary.name = json.at("name");
    binary.text = json.at("text");
    binary.arguments = json.at("arguments").get<std::vector<std::string>>();
    for (const auto& item : json.at("kernels")) {
      BinaryKernel& kernel = binary.kernels.emplace_back();
      kernel.name = item.at("name");
      kernel.parameters = item.at("parameters").get<std::vector<std::string>>();
      kernel.barriers = item.at("barriers");
      kernel.threads_bound = item.at("threads_bound");
      kernel.blocks_bound = item.at("blocks_bound");
      kernel.argument_bytes = item.at("argument_bytes");
      kernel.shared_bytes = item.at("shared_bytes");
    }
  } catch (const nlohmann::json::exception& error) {
    refuse(error.what());
  }
  binary.object.assign(rest.begin() + head.json_bytes, rest.end());
  return binary;
}

std::size_t binary_bytes(const void* image) {
  // PTX is text and may be shorter than a header: its first byte already tells.
  if (*static_cast<const unsigned char*>(image) != ELFMAG0 || std::memcmp(image, ELFMAG, SELFMAG) != 0)
    return 0;
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof header);
  return header.e_shoff + std::size_t{header.e_shnum} * header.e_shentsize;
}

}  // namespace ondula::sim
