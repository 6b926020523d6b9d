// When in a step back the adjoint of each field is updated, and what may enter it before.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "compiler/passes/cotangents.hpp"

namespace ondula::passes {

/// Early fields, which readers in the same step want as it leaves them, have their adjoints updated in
/// mid-step, where the step itself updated them; late ones at the step's end. All arguments must outlive
/// this.
class AdjointOrder {
 public:
  AdjointOrder(const ir::Program& physical, const std::vector<Use>& uses, const AdjointVariables& variables,
               const Cotangents& cotangents)
      : physical_(physical), uses_(uses), variables_(variables), cotangents_(cotangents) {}

  /// Of first order, late, and read by others: its adjoint is updated at the step's end in place.
  bool ending(const std::string& field) const;
  std::vector<std::string> ending_fields() const;
  /// A step keeps all of a first-order field besides what it gains.
  bool whole(const std::string& field) const;
  /// What enters the adjoint of `field`, and of those under one law with it, before the step's end updates
  /// them reaches that update alone, and as it is.
  bool unread(const std::string& field) const;
  /// `late` fields in an order in which each is updated after all that read it as the step found it, since it
  /// is in place; where nothing says otherwise, the one given.
  std::vector<std::string> at_the_end(std::vector<std::string> late) const;

 private:
  bool allied(const std::string& a, const std::string& b) const;
  bool reads_before(const std::string& reader, const std::string& field) const;
  bool drives(ir::Expr atom, const std::string& field) const;

  const ir::Program& physical_;
  const std::vector<Use>& uses_;
  const AdjointVariables& variables_;
  const Cotangents& cotangents_;
};

}  // namespace ondula::passes
