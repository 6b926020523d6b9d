// plan_saves: the fewest arrays a forward run must keep of every step.
// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/passes/gradient_terms.hpp"

namespace ondula::passes {

/// What is kept of each step.
struct SavePlan {
  std::set<std::string> fields;     ///< of the forward program, as they are at the step's end
  std::vector<std::size_t> values;  ///< terms whose forward sum is computed and kept
};

/// Chooses every term's supply so that the fewest arrays are kept, by trying all ways (a cut through the
/// graph from fields to terms; there are few terms). Of equal ways the one that copies least (second-order
/// fields are copied, sums are kept where they are computed), then the one that computes least again. Throws
/// UserError where a term has no way.
/// With `fields_only` none of the forward sums is kept, as where fields are rebuilt instead of kept.
SavePlan plan_saves(const ir::Program& physical, std::vector<GradientTerm>& terms, bool fields_only = false);

/// How each term is had and what is kept of each step, in words.
std::vector<std::string> decisions(const ir::Program& physical, const std::vector<GradientTerm>& terms,
                                   const SavePlan& plan);

}  // namespace ondula::passes
