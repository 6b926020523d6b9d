// The time levels of the fields of a Program, with their live ranges and images.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/reference/images.hpp"
#include "compiler/reference/layout.hpp"

namespace ondula::reference {

/// One field: an array over Layout::everything() per level kept, level -1 only for second-order fields.
template <class Real>
struct FieldState {
  const ir::Field* field = nullptr;
  ir::Box live;  ///< where it evolves; of a memory variable, all its entries
  ir::Box held;  ///< where it has values: what of a rebuilt field lies outside of its inset too
  std::array<std::vector<Repeat>, ir::max_axes> images;  ///< none for memory variables: 0 beyond their strips
  std::array<std::vector<Real>, 3> levels;               ///< of level -1, 0, +1
  bool updated = false;                                  ///< some operation writes its level +1
};

/// All fields of a program.
template <class Real>
class State {
 public:
  State(const ir::Program& program, const ir::Domain& domain, const Layout& layout);

  /// Throws InternalError if there is no such field.
  FieldState<Real>& of(const std::string& name);
  const FieldState<Real>& of(const std::string& name) const;
  /// Throws InternalError if the field keeps no such level.
  std::vector<Real>& level(const std::string& name, int level);
  const std::vector<Real>& level(const std::string& name, int level) const;

  void clear();
  void set(const std::string& name, int level, std::span<const double> values);
  std::vector<double> get(const std::string& name, int level) const;
  /// Fills the halo of a field: its faces' images.
  void fill_halo(const std::string& name, int level);
  /// In-place fields start a step with level +1 equal to level 0.
  void begin_step();
  /// Level +1 becomes level 0, and level 0 becomes -1.
  void end_step();

 private:
  const ir::Program& program_;
  const Layout& layout_;
  std::map<std::string, FieldState<Real>> fields_;
};

extern template class State<float>;
extern template class State<double>;

}  // namespace ondula::reference
