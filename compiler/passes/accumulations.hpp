// Gradient terms as updates: accumulators of the adjoint program, and values the forward program keeps.
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/passes/cotangents.hpp"
#include "compiler/passes/gradient_terms.hpp"
#include "compiler/passes/plan_saves.hpp"

namespace ondula::passes {

/// Adds saved fields, accumulators and their updates to an adjoint under construction.
class Accumulations {
 public:
  Accumulations(const ir::Program& physical, const std::vector<Use>& uses, const AdjointVariables& variables,
                std::vector<GradientTerm> terms, const SavePlan& plan, Cotangents& cotangents,
                ir::Adjoint& adjoint);

  /// The sum, if any, that grows with every change of the adjoint of `field`: by as much as that change
  /// without its scale, times the saved field.
  struct Along {
    std::string accumulator;
    ir::Expr saved;
    std::string name;  ///< of `saved`; its level before the step is there too
  };
  std::optional<Along> along(const std::string& field);

  /// The updates of all other accumulators, and of the filters they need; adjoints and memory variables are
  /// read as they are when the step back has reached the fields' own updates.
  std::vector<ir::Operation> updates();

 private:
  void save_value(std::size_t number);
  void gradient(std::size_t number, const std::string& accumulator);
  void accumulate(std::size_t number);
  bool by_parts(const GradientTerm& term) const;
  std::string add_accumulator(std::size_t number);
  ir::Expr adjoint_sum(const std::vector<std::string>& fields) const;
  ir::Expr filtered(const Pairing& pair);
  ir::Expr recalled(ir::Expr forward);
  void keep_apart(const std::string& name);
  std::string add_field(const std::string& name, const ir::Field& like);
  void put(const std::string& accumulator, ir::Expr value, const std::vector<ir::Region>& regions);
  void pair_live_and_strips(const GradientTerm& term, const std::string& accumulator);
  void pair_nested(const GradientTerm& term, const std::string& accumulator);

  const ir::Program& physical_;
  const std::vector<Use>& uses_;
  const AdjointVariables& variables_;
  std::vector<GradientTerm> terms_;
  Cotangents& cotangents_;
  ir::Adjoint& adjoint_;
  ir::Pool& pool_;
  std::map<std::pair<std::uint32_t, std::string>, std::string> filters_;  // by adjoint sum and memory
  std::vector<ir::Operation> needed_, filter_updates_, updates_;          // in that order
};

}  // namespace ondula::passes
