// The arguments of launches, as emit/manifest.hpp lays them out.
// SPDX-License-Identifier: MIT
#include "runtime/loop/launch_binder.hpp"

#include <unistd.h>

#include <algorithm>

#include "compiler/emit/manifest.hpp"
#include "compiler/ir/evaluate.hpp"
#include "compiler/passes/schedule.hpp"
#include "runtime/loop/boxes.hpp"

namespace ondula::loop {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// What one thread may fill of the cache nearest to memory: half of its share.
std::int64_t cache_bytes(int threads) {
  const long shared = sysconf(_SC_LEVEL3_CACHE_SIZE);
  const long own = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return std::max<std::int64_t>({shared / (2 * threads), own / 2, 1 << 19});
}

template <class Real>
void append(device::Launch& launch, double value) {
  const auto rounded = static_cast<Real>(value);
  const auto* bytes = reinterpret_cast<const std::byte*>(&rounded);
  launch.scalars.insert(launch.scalars.end(), bytes, bytes + sizeof rounded);
}

}  // namespace

LaunchBinder::LaunchBinder(const ir::KernelSet& set, const EngineSetup& setup, const device::Device& device,
                           const jit::HostModule& module, Arrays& arrays, int halo)
    : set_(set),
      setup_(setup),
      device_(device),
      module_(module),
      arrays_(arrays),
      halo_(halo),
      element_(setup.dtype == DType::float32 ? sizeof(float) : sizeof(double)) {}

device::Launch LaunchBinder::launch(const ir::Kernel& kernel, int parity) const {
  const ir::Domain& domain = setup_.domain;
  const emit::ArgumentLayout places(kernel, domain.dims);
  device::Launch launch;
  launch.function = module_.symbol(kernel.name);
  launch.integers.assign(at(places.size()), 0);
  const Layout full = full_layout(domain, halo_, element_);
  for (int axis = 0; axis < places.outer(); ++axis) launch.integers[at(axis)] = full.stride[at(axis)];
  for (std::size_t a = 0; a < kernel.arrays.size(); ++a) {
    launch.arrays.push_back(pointer(kernel.arrays[a], parity));
    if (places.strip(a) < 0) continue;
    const auto found = arrays_.all().find(strip_key(kernel.arrays[a].name, kernel.arrays[a].side));
    if (found == arrays_.all().end()) continue;
    const Layout& layout = found->second.layout;
    launch.integers[at(places.strip(a))] = layout.origin;
    for (int axis = 0; axis < places.outer(); ++axis) {
      launch.integers[at(places.strip(a) + 1 + axis)] = layout.stride[at(axis)];
    }
  }
  bind_boxes(kernel, launch);
  bind_scalars(kernel, launch);
  const std::int64_t row_bytes =
      domain.dims == 1 ? 0 : full.stride[at(domain.dims - 2)] * static_cast<std::int64_t>(element_);
  launch.tiles = passes::host_tiles(kernel, domain, row_bytes,
                                    {device_.threads(), cache_bytes(device_.threads()), beyond(kernel)});
  return launch;
}

void LaunchBinder::bind_boxes(const ir::Kernel& kernel, device::Launch& launch) const {
  const int dims = setup_.domain.dims;
  const emit::ArgumentLayout places(kernel, dims);
  const Boxes boxes(set_, setup_.domain, element_);
  for (std::size_t p = 0; p < kernel.pieces.size(); ++p) {
    const ir::Piece& piece = kernel.pieces[p];
    for (int side = 0; side < piece.sides(); ++side)
      put(launch, places.box(p, side), boxes.piece(piece, side));
    if (places.core(p) >= 0) put(launch, places.core(p), boxes.core(piece));
    if (places.lives(p) < 0) continue;
    int position = places.lives(p);
    for (const ir::Box& box : boxes.lives(piece)) {
      put(launch, position, box);
      position += 2 * dims;
    }
  }
}

/// How far outside the padded grid a kernel's stores reach.
std::int64_t LaunchBinder::beyond(const ir::Kernel& kernel) const {
  std::int64_t most = 0;
  for (const ir::Piece& piece : kernel.pieces) {
    for (const ir::Store& store : piece.stores) {
      const ir::Field& field = set_.program.field(store.field);
      if (field.beyond_axis >= 0) most = std::max<std::int64_t>(most, std::max(field.beyond, 1));
    }
  }
  return most;
}

void* LaunchBinder::pointer(const ir::ArrayArgument& argument, int parity) const {
  if (argument.kind == ir::ArrayKind::profile)
    return arrays_.at(profile_key(argument.name, argument.axis, argument.half)).buffer.data();
  if (argument.side >= 0) {
    // A side without a layer has no array, and its pieces are empty.
    const auto found = arrays_.all().find(strip_key(argument.name, argument.side));
    return found == arrays_.all().end() ? nullptr : found->second.buffer.data();
  }
  ArrayKey key = coefficient_key(argument.name);
  if (argument.kind == ir::ArrayKind::field) {
    const ir::Field& field = set_.program.field(argument.name);
    if (field.saved) return nullptr;
    if (field.apart) return nullptr;
    const bool rotates = field.time_order == 2;
    key = field_key(argument.name, rotates && argument.slot == 0 ? parity : rotates ? 1 - parity : 0);
  }
  auto& array = arrays_.at(key);
  return static_cast<std::byte*>(array.buffer.data()) +
         array.layout.origin * static_cast<std::int64_t>(element_);
}

void LaunchBinder::put(device::Launch& launch, int position, const ir::Box& box) const {
  for (int axis = 0; axis < setup_.domain.dims; ++axis) {
    launch.integers[at(position + 2 * axis)] = box[at(axis)].lo;
    launch.integers[at(position + 2 * axis + 1)] = box[at(axis)].hi;
  }
}

void LaunchBinder::bind_scalars(const ir::Kernel& kernel, device::Launch& launch) const {
  for (const std::string& name : kernel.scalars) {
    const auto found = std::find_if(set_.program.scalars.begin(), set_.program.scalars.end(),
                                    [&](const ir::Scalar& s) { return s.name == name; });
    const double value = ir::scalar_value(found->definition, setup_.symbols);
    if (setup_.dtype == DType::float32)
      append<float>(launch, value);
    else
      append<double>(launch, value);
  }
}

}  // namespace ondula::loop
