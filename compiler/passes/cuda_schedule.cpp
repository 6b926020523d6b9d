// From sweeps to CUDA kernels.
// SPDX-License-Identifier: MIT
#include "compiler/passes/cuda_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "compiler/error.hpp"
#include "compiler/passes/cuda_arguments.hpp"
#include "compiler/passes/cuda_candidates.hpp"
#include "compiler/passes/cuda_figures.hpp"
#include "compiler/passes/cuda_lets.hpp"

namespace ondula::passes {
namespace {

using ir::Expr;
using ir::Kind;
using ir::RegionKind;

/// The fields whose live entries along an axis are the same for every kind of face (Domain::live).
auto live_key(const ir::Field& field, int axis) {
  const bool half = field.stagger[static_cast<std::size_t>(axis)] != 0;
  const bool plain = half || field.everywhere;
  const bool indexed =
      std::find(field.component.begin(), field.component.end(), axis) != field.component.end();
  return std::tuple(half, field.everywhere && !half, plain ? 0 : static_cast<int>(field.kind) + 1,
                    !plain && indexed, field.beyond_axis == axis ? field.beyond : -1, field.inset.has_value(),
                    field.inset ? (*field.inset)[static_cast<std::size_t>(axis)] : 0);
}

/// What a piece reads and writes, by local name.
struct Footprint {
  std::set<std::string> reads, writes;
};

Footprint footprint(const ir::Piece& piece) {
  Footprint result;
  const auto walk = [&](auto&& self, Expr e) -> void {
    if (e->kind == Kind::field) result.reads.insert(e->name);
    for (const Expr arg : e->args) self(self, arg);
  };
  for (const ir::Let& let : piece.lets) walk(walk, let.value);
  for (const ir::Store& store : piece.stores) {
    walk(walk, store.value);
    result.writes.insert(store.array);
  }
  return result;
}

bool meet(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::any_of(a.begin(), a.end(), [&](const std::string& name) { return b.contains(name); });
}

bool conflict(const Footprint& a, const Footprint& b) {
  return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes);
}

/// The pieces of one kernel, sorted into blocks.
struct Group {
  int region = -1;
  std::vector<const ir::Piece*> pieces;
};

class Scheduler {
 public:
  Scheduler(const ir::KernelSet& set, const ir::CudaTarget& target, const CudaShapes& shapes, int sweep)
      : set_(set),
        target_(target),
        shapes_(shapes),
        sweep_(sweep),
        source_(set.kernels[static_cast<std::size_t>(sweep)]) {}

  std::vector<ir::CudaKernel> run() {
    std::vector<const ir::Piece*> pieces;
    std::set<int> axes;
    bool live = false;
    for (const ir::Piece& piece : source_.pieces) {
      if (piece.role == ir::Role::fused) continue;
      if (piece.mixed || piece.lead_axis >= 0)
        throw InternalError("kernel " + source_.name + ": pieces made for the host (" + piece.comment + ")");
      pieces.push_back(&piece);
      live |= piece.region.kind == RegionKind::live;
      if (piece.region.kind != RegionKind::live) axes.insert(piece.region.axis);
    }
    std::vector<ir::CudaKernel> kernels;
    if (live) {
      kernels.push_back(kernel(pieces, -1));
      return kernels;
    }
    for (const int axis : axes) {
      std::vector<const ir::Piece*> own;
      for (const ir::Piece* piece : pieces) {
        if (piece->region.axis == axis) own.push_back(piece);
      }
      kernels.push_back(kernel(own, axis));
    }
    return kernels;
  }

 private:
  const ir::Program& program() const { return set_.program; }

  ir::CudaKernel kernel(const std::vector<const ir::Piece*>& pieces, int strip_axis) {
    kernel_ = {};
    kernel_.sweep = sweep_;
    kernel_.strip_axis = strip_axis;
    kernel_.name = source_.name;
    if (strip_axis >= 0) kernel_.name += "_" + program().axes[static_cast<std::size_t>(strip_axis)];
    stored_.clear();
    for (const Group& group : grouped(pieces)) block(group);
    for (const std::string& array : carried_order()) {
      kernel_.stores.push_back({array, {}, ir::CudaKeep::carried, stored_.at(array).guards});
    }
    kernel_.aligned = strip_axis < 0 && begins_beyond(program().dims() - 1);
    shape();
    CudaLets(*program().pool).run(kernel_);
    if (kernel_.march) queues();
    kernel_.arguments = cuda_arguments(set_, kernel_, target_.shots);
    kernel_.figures = cuda_figures(set_, kernel_, target_);
    return std::move(kernel_);
  }

  int region_of(const ir::Piece& piece) {
    if (piece.region.kind == RegionKind::live) return -1;
    const ir::Field& field = program().field(piece.live_field);
    const bool half = field.stagger[static_cast<std::size_t>(piece.region.axis)] != 0;
    ir::CudaRegion region{piece.region.kind, piece.region.axis, half, ""};
    if (region.kind == RegionKind::strip && field.beyond_axis == region.axis) {
      // Fluxes along one axis live beyond its faces alike.
      for (const ir::CudaRegion& other : kernel_.regions) {
        if (other.axis == region.axis && !other.beyond.empty() && other.half == half)
          region.beyond = other.beyond;
      }
      if (region.beyond.empty()) region.beyond = piece.live_field;
    }
    const auto known = std::find(kernel_.regions.begin(), kernel_.regions.end(), region);
    if (known != kernel_.regions.end()) return static_cast<int>(known - kernel_.regions.begin());
    kernel_.regions.push_back(region);
    return static_cast<int>(kernel_.regions.size()) - 1;
  }

  /// Live pieces first; a piece joins an earlier block of its region unless one in between stands in its way.
  std::vector<Group> grouped(const std::vector<const ir::Piece*>& pieces) {
    std::vector<Group> groups;
    for (const ir::Piece* piece : pieces) {
      const int region = region_of(*piece);
      const Footprint own = footprint(*piece);
      std::size_t at = groups.size();
      for (std::size_t g = groups.size(); g-- > 0;) {
        if (groups[g].region == region) {
          at = g;
          break;
        }
        const auto blocks = [&](const ir::Piece* other) { return conflict(footprint(*other), own); };
        if (std::any_of(groups[g].pieces.begin(), groups[g].pieces.end(), blocks)) break;
        if (region == -1 || sorts_before(region, groups[g].region)) at = g;
      }
      if (at == groups.size() || groups[at].region != region) {
        groups.insert(groups.begin() + static_cast<std::ptrdiff_t>(at), {region, {}});
      }
      groups[at].pieces.push_back(piece);
    }
    return groups;
  }

  /// Strips of one axis stand together, so that one condition holds them.
  bool sorts_before(int region, int other) const {
    if (other < 0) return false;
    return kernel_.regions[static_cast<std::size_t>(region)].axis <
           kernel_.regions[static_cast<std::size_t>(other)].axis;
  }

  void block(const Group& group) {
    ir::CudaBlock block;
    block.region = group.region;
    for (const ir::Piece* piece : group.pieces) {
      ir::CudaPiece result{piece->comment, piece->location, {}, {}};
      const std::vector<int> guards = guards_of(piece->live_field);
      std::map<std::string, Expr> lets;
      for (const ir::Let& let : piece->lets) lets[let.name] = resolved(let.value, lets);
      std::vector<ir::CudaStore> stores;
      for (const ir::Store& store : piece->stores) {
        stores.push_back({store.array, resolved(store.value, lets), keep(store.array, group.region), guards});
        // Later stores of the piece see this one (ir/kernel.hpp).
        remember(store.array, group.region, guards);
      }
      result.stores = std::move(stores);
      block.pieces.push_back(std::move(result));
      for (const std::string& array : piece->arrays) {
        const ir::ArrayArgument& a = argument(array);
        const bool strip = a.kind == ir::ArrayKind::field && a.side >= 0;
        if (strip && std::find(block.strips.begin(), block.strips.end(), array) == block.strips.end())
          block.strips.push_back(array);
      }
    }
    kernel_.blocks.push_back(std::move(block));
  }

  const ir::ArrayArgument& argument(const std::string& local) const {
    const auto found = std::find_if(source_.arrays.begin(), source_.arrays.end(),
                                    [&](const ir::ArrayArgument& a) { return a.local == local; });
    if (found == source_.arrays.end())
      throw InternalError("kernel " + source_.name + " has no array " + local);
    return *found;
  }

  struct Stored {
    std::size_t block = 0;  // the last that stored it
    ir::CudaKeep keep = ir::CudaKeep::carried;
    std::vector<int> guards;
    std::size_t order = 0;
  };

  ir::CudaKeep keep(const std::string& array, int region) const {
    if (argument(array).side >= 0) return ir::CudaKeep::strip;
    const auto before = stored_.find(array);
    if (before != stored_.end()) return before->second.keep;
    return region == -1 ? ir::CudaKeep::carried : ir::CudaKeep::direct;
  }

  void remember(const std::string& array, int region, const std::vector<int>& guards) {
    const auto found = stored_.find(array);
    if (found == stored_.end()) {
      stored_[array] = {kernel_.blocks.size(), keep(array, region), guards, stored_.size()};
    } else if (found->second.keep == ir::CudaKeep::carried && found->second.guards != guards) {
      throw InternalError("kernel " + source_.name + ": " + array + " is stored on different points");
    } else {
      found->second.block = kernel_.blocks.size();
    }
  }

  std::vector<std::string> carried_order() const {
    std::map<std::size_t, std::string> order;
    for (const auto& [array, stored] : stored_) {
      if (stored.keep == ir::CudaKeep::carried) order[stored.order] = array;
    }
    std::vector<std::string> result;
    for (const auto& [position, array] : order) result.push_back(array);
    return result;
  }

  /// Lets inlined, and values that this thread has just computed taken from their registers.
  Expr resolved(Expr e, const std::map<std::string, Expr>& lets) {
    std::map<std::uint32_t, Expr> known;
    return resolve(e, lets, known);
  }

  Expr resolve(Expr e, const std::map<std::string, Expr>& lets, std::map<std::uint32_t, Expr>& known) {
    if (e->kind == Kind::let) return lets.at(e->name);
    if (e->kind == Kind::field) return value_of(e);
    if (e->args.empty()) return e;
    const auto found = known.find(e->id);
    if (found != known.end()) return found->second;
    std::vector<Expr> args;
    for (const Expr arg : e->args) args.push_back(resolve(arg, lets, known));
    const Expr result = program().pool->function(e->name, std::move(args));
    known[e->id] = result;
    return result;
  }

  Expr value_of(Expr access) const {
    const auto stored = stored_.find(access->name);
    if (stored == stored_.end()) return access;
    if (access->offset != ir::HalfCells{})
      throw InternalError("kernel " + source_.name + ": threads meet on " + access->name);
    const bool same =
        stored->second.keep == ir::CudaKeep::strip && stored->second.block == kernel_.blocks.size();
    const bool carried = stored->second.keep == ir::CudaKeep::carried;
    return same || carried ? program().pool->let(cuda_new_value(access->name)) : access;
  }

  std::vector<int> guards_of(const std::string& field) {
    std::vector<int> result;
    for (int axis = 0; axis < program().dims(); ++axis) {
      const auto key = live_key(program().field(field), axis);
      const auto known =
          std::find_if(kernel_.ranges.begin(), kernel_.ranges.end(), [&](const ir::CudaRange& r) {
            return r.axis == axis && live_key(program().field(r.field), axis) == key;
          });
      result.push_back(static_cast<int>(known - kernel_.ranges.begin()));
      if (known == kernel_.ranges.end()) kernel_.ranges.push_back({axis, field});
    }
    return result;
  }

  /// Whether some field lives beyond the faces of `axis`.
  bool begins_beyond(int axis) const {
    return std::any_of(kernel_.ranges.begin(), kernel_.ranges.end(), [&](const ir::CudaRange& range) {
      return range.axis == axis && program().field(range.field).beyond_axis == axis;
    });
  }

  void shape() {
    const auto given = shapes_.find(kernel_.name);
    const CudaShape chosen =
        given == shapes_.end() ? cuda_shape(set_, kernel_, target_, true) : given->second;
    if (given != shapes_.end()) {
      const std::string problem = cuda_shape_problem(chosen, program().dims(), kernel_.strip_axis >= 0);
      if (!problem.empty()) throw InternalError(fmt::format("kernel {}: {}", kernel_.name, problem));
      kernel_.shape_given = true;
    }
    kernel_.march = chosen.march;
    kernel_.block = chosen.block;
    kernel_.min_blocks = chosen.min_blocks;
    kernel_.rows_per_strip = chosen.rows_per_strip;
  }

  /// Every column that the live pieces read on several planes.
  void queues() {
    std::map<std::pair<std::string, ir::HalfCells>, ir::CudaQueue> columns;
    std::vector<std::pair<std::string, ir::HalfCells>> order;
    const auto walk = [&](auto&& self, Expr e) -> void {
      if (e->kind == Kind::field || e->kind == Kind::coefficient) {
        ir::HalfCells column = e->offset;
        column[0] = 0;
        const auto [found, fresh] = columns.try_emplace({e->name, column});
        if (fresh) {
          found->second = {e->name, column, e->offset[0], e->offset[0]};
          order.push_back(found->first);
        }
        found->second.first = std::min(found->second.first, e->offset[0]);
        found->second.last = std::max(found->second.last, e->offset[0]);
      }
      for (const Expr arg : e->args) self(self, arg);
    };
    for (const ir::CudaBlock& block : kernel_.blocks) {
      if (block.region >= 0) continue;
      for (const ir::CudaPiece& piece : block.pieces) {
        for (const ir::Let& let : piece.lets) walk(walk, let.value);
        for (const ir::CudaStore& store : piece.stores) walk(walk, store.value);
      }
    }
    for (const auto& key : order) {
      if (columns.at(key).size() > 1) kernel_.queues.push_back(columns.at(key));
    }
  }

  const ir::KernelSet& set_;
  const ir::CudaTarget& target_;
  const CudaShapes& shapes_;
  int sweep_;
  const ir::Kernel& source_;
  ir::CudaKernel kernel_;
  std::map<std::string, Stored> stored_;
};

}  // namespace

CudaShape cuda_shape(const ir::CudaTarget& target, const CudaWork& work) {
  /// Blocks per multiprocessor from one order to the next of the table.
  struct Entry {
    int order;  ///< up to this one
    std::array<int, 2> block;
    int min_blocks;
  };
  static const std::vector<Entry> plain = {{16, {32, 8}, 4}};
  static const std::vector<Entry> plain_nested = {
      {4, {32, 8}, 4}, {8, {32, 8}, 2}, {12, {32, 4}, 3}, {16, {32, 8}, 1}};
  static const std::vector<Entry> plain_system = {{8, {32, 8}, 4}, {14, {32, 8}, 3}, {16, {32, 8}, 2}};
  static const std::vector<Entry> march = {{16, {32, 16}, 2}};
  static const std::vector<Entry> march_nested = {
      {2, {32, 16}, 2}, {4, {32, 8}, 3}, {8, {32, 8}, 2}, {16, {32, 8}, 1}};
  static const std::vector<Entry> march_system = {{8, {32, 8}, 3}, {14, {32, 8}, 2}, {16, {32, 4}, 3}};
  // From sm_100 on the assembler wants a few registers more for the same text.
  static const std::vector<Entry> march_nested_100 = {
      {2, {32, 16}, 2}, {4, {32, 4}, 5}, {6, {32, 8}, 2}, {8, {32, 4}, 3}, {16, {32, 8}, 1}};
  static const std::vector<Entry> march_system_100 = {{4, {32, 8}, 3}, {12, {32, 8}, 2}, {16, {32, 4}, 3}};
  // Addresses of a shot's own copies take a few as well.
  static const std::vector<Entry> plain_nested_shots = {
      {4, {32, 8}, 3}, {8, {32, 8}, 2}, {12, {32, 4}, 3}, {16, {32, 8}, 1}};
  static const std::vector<Entry> plain_system_shots = {{14, {32, 8}, 3}, {16, {32, 8}, 2}};
  static const std::vector<Entry> march_shots_100 = {{12, {32, 16}, 2}, {16, {32, 8}, 3}};
  constexpr int first_to_march = 90;
  const bool hungry = target.sm >= 100;
  const bool marches = work.dims == 3 && target.sm >= first_to_march;
  const auto& table = marches ? (work.nested   ? (hungry ? march_nested_100 : march_nested)
                                 : work.system ? (hungry ? march_system_100 : march_system)
                                               : (hungry && target.shots ? march_shots_100 : march))
                              : (work.nested   ? (target.shots ? plain_nested_shots : plain_nested)
                                 : work.system ? (target.shots ? plain_system_shots : plain_system)
                                               : plain);
  const auto entry =
      std::find_if(table.begin(), table.end(), [&](const Entry& e) { return work.order <= e.order; });
  CudaShape shape{marches, entry->block, entry->min_blocks};
  // Sums over time beside stencils keep more alive.
  if (work.sums) shape.min_blocks = std::max(1, shape.min_blocks - 1);
  if (work.dims == 1) shape.block = {shape.block[0] * shape.block[1], 1};
  if (target.element_bytes > 4) shape.min_blocks = std::max(1, shape.min_blocks / 2);
  if (work.dims == 3) shape.rows_per_strip = cuda_strip_rows / shape.block[1];
  return shape;
}

CudaShape shape_of(const ir::CudaKernel& kernel) {
  return {kernel.march, kernel.block, kernel.min_blocks, kernel.rows_per_strip};
}

ir::CudaProgram cuda_schedule(const ir::KernelSet& set, const ir::CudaTarget& target,
                              const CudaShapes& shapes) {
  constexpr int oldest = 50;
  if (target.sm < oldest) {
    throw UserError(fmt::format("sm_{}: CUDA text is made for sm_{} and newer", target.sm, oldest));
  }
  ir::CudaProgram result{set, target, {}, {}};
  for (const ir::Stage& stage : set.stages) {
    if (stage.kernel < 0) {
      result.stages.push_back(stage);
      continue;
    }
    for (ir::CudaKernel& kernel : Scheduler(set, target, shapes, stage.kernel).run()) {
      result.stages.push_back({static_cast<int>(result.kernels.size()), -1});
      result.kernels.push_back(std::move(kernel));
    }
  }
  return result;
}

}  // namespace ondula::passes
