// What does not vary in time: scalars, parameters, averages and layer profiles, evaluated in double.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "compiler/reference/layout.hpp"

namespace ondula::reference {

/// A time-independent value: one number, or an array over Layout::everything().
struct Static {
  double number = 0;
  std::vector<double> array;  ///< empty where uniform
  bool uniform() const { return array.empty(); }
  double operator[](std::int64_t i) const { return uniform() ? number : array[at(i)]; }
};

/// f at every entry.
template <class F>
Static combined(const Static& a, const Static& b, const F& f) {
  if (a.uniform() && b.uniform()) return {f(a.number, b.number), {}};
  Static result;
  result.array.resize(a.uniform() ? b.array.size() : a.array.size());
  for (std::size_t i = 0; i < result.array.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i);
    result.array[i] = f(a[n], b[n]);
  }
  return result;
}

/// Evaluates expressions without fields. Half-cell values stand at the entry they are half a cell above.
class Statics {
 public:
  Statics(const ir::Program& program, const ir::Domain& domain, const Layout& layout,
          std::map<std::string, double> symbols, const ir::LayerOptions& options);

  /// `values` on the padded grid, C order; extended into the halo by parameter_images.
  void set_parameter(const std::string& name, std::span<const double> values);

  /// The same for what tangents are taken along; parameters without one do not change.
  void set_perturbation(const std::string& name, std::span<const double> values);

  /// Throws InternalError for a symbol without a value, a parameter not set, and for anything with a field.
  Static evaluate(ir::Expr e) const;
  /// The product of those factors of `product` that do not vary in time.
  Static product_of_statics(ir::Expr product) const;

 private:
  Static symbol(const std::string& name) const;
  Static profile(const ir::Node& node) const;
  Static average(const ir::Node& node) const;
  Static surface(const std::vector<Static>& by_count) const;
  Static function(const ir::Node& node) const;
  std::vector<double> extended(const std::string& name, std::span<const double> values) const;
  // tangents.cpp
  Static tangent(ir::Expr e) const;
  Static tangent_of_reciprocal(ir::Expr e) const;
  Static tangent_of_average(const ir::Node& node) const;
  Static tangent_of_function(const ir::Node& node) const;

  const ir::Program& program_;
  const ir::Domain& domain_;
  const Layout& layout_;
  std::map<std::string, double> symbols_;
  std::map<std::string, std::vector<double>> parameters_, perturbation_;  // over Layout::everything()
  std::vector<ir::Profile> profiles_;
};

/// True if `e` depends on a field.
inline bool varies(ir::Expr e) { return ir::contains(e, ir::Kind::field); }

}  // namespace ondula::reference
