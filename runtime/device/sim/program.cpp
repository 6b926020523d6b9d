// Loading binaries: mapping the code, reading what it says of its kernels.
// SPDX-License-Identifier: MIT
#include "runtime/device/sim/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "compiler/error.hpp"
#include "runtime/device/sim/compile_text.hpp"

namespace ondula::sim {

std::vector<std::byte> Kernel::pack(void* const* pointers) const {
  std::vector<std::byte> packed(argument_bytes);
  for (std::size_t i = 0; i < parameters.size(); ++i)
    std::memcpy(packed.data() + parameters[i].offset, pointers[i], parameters[i].bytes);
  return packed;
}

void read_layout(const jit::ElfImage& image, std::size_t index, Kernel& kernel) {
  // As ondula_sim_layout of the prelude: three numbers, then four of each parameter.
  const auto* at = static_cast<const unsigned*>(image.symbol(fmt::format("ondula_sim_layout_{}", index)));
  if (at == nullptr)
    throw RuntimeError(fmt::format("the code of kernel {} says nothing of its parameters", kernel.name));
  kernel.index = index;
  kernel.threads_bound = at[1] > 0 ? static_cast<int>(at[1]) : 1024;
  kernel.blocks_bound = static_cast<int>(at[2]);
  const std::vector<Parameter> named = std::move(kernel.parameters);
  kernel.parameters.assign(at[0], {});
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    const unsigned* numbers = at + 3 + 4 * i;
    kernel.parameters[i] = {numbers[0], numbers[1], numbers[2], numbers[3] != 0, ""};
    if (i < named.size()) kernel.parameters[i].name = named[i].name;
    kernel.argument_bytes = numbers[0] + std::size_t{numbers[1]};
  }
}

std::shared_ptr<Program> Program::load(std::span<const std::byte> binary) {
  return std::make_shared<LoadedProgram>(read_binary(binary));
}

std::size_t Program::bytes_at(const void* image) { return binary_bytes(image); }

LoadedProgram::LoadedProgram(Binary binary) : binary_(std::move(binary)) {
  for (const BinaryKernel& stated : binary_.kernels) {
    Kernel& kernel = kernels_.emplace_back();
    kernel.name = stated.name;
    kernel.barriers = stated.barriers;
    kernel.shared_bytes = static_cast<std::size_t>(stated.shared_bytes);
    for (const std::string& name : stated.parameters) kernel.parameters.push_back({0, 0, 1, false, name});
  }
  plain_ = map(binary_.object);
  for (std::size_t i = 0; i < kernels_.size(); ++i) read_layout(*plain_.image, i, kernels_[i]);
}

Variant LoadedProgram::map(std::span<const std::byte> object) const {
  Variant variant;
  variant.image = std::make_unique<jit::ElfImage>(object, kernel_callbacks());
  for (std::size_t i = 0; i < kernels_.size(); ++i) {
    const auto entry = reinterpret_cast<Entry>(variant.image->symbol(fmt::format("ondula_sim_run_{}", i)));
    if (entry == nullptr) throw RuntimeError(fmt::format("kernel {} has no code", kernels_[i].name));
    variant.entries.push_back(entry);
  }
  variant.shared = variant.image->section("ondula_shared");
  return variant;
}

const Kernel* LoadedProgram::find(const std::string& name) const {
  const auto found =
      std::find_if(kernels_.begin(), kernels_.end(), [&](const Kernel& k) { return k.name == name; });
  return found == kernels_.end() ? nullptr : &*found;
}

std::vector<const Kernel*> LoadedProgram::kernels() const {
  std::vector<const Kernel*> all;
  for (const Kernel& kernel : kernels_) all.push_back(&kernel);
  return all;
}

const Variant& LoadedProgram::checked(bool arithmetic) const {
  const std::lock_guard lock(checked_mutex_);
  Variant& variant = arithmetic ? arithmetic_ : checked_;
  if (variant.image != nullptr) return variant;
  const jit::ClangLibrary::Compiled compiled =
      compile_variant(binary_, binary_.text, arithmetic ? Code::arithmetic : Code::checked);
  if (!compiled.succeeded)
    throw RuntimeError(fmt::format("{}: the checked code did not compile:\n{}", binary_.name, compiled.log));
  variant = map(compiled.object);
  variant.lines = read_lines(compiled.object, binary_.name);
  return variant;
}

}  // namespace ondula::sim
