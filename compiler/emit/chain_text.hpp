// chain_text: what is constant in time as C++ in double, statement by statement, and the transpose of its
// derivative. SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "compiler/ir/expr.hpp"

namespace ondula::emit {

/// An expression of symbols and parameters at `node`, harmonic means and surface values included, by the
/// rules of numerics.md, Gradient. The text calls what templates/standalone_chain.cpp.in has, and expects
/// `grid`, `node`, `models`, the symbols and, for transposes, `gradient`.
class ChainText {
 public:
  /// `prefix` begins the names of its variables, so that several fit in one scope.
  ChainText(ir::Expr e, int dims, std::string prefix);

  /// Statements that compute what `rest`, the text after them, names; and what the value is called.
  std::string values(const std::string& rest) const;
  const std::string& result() const { return steps_[result_].name; }
  /// Statements that add to the gradient what the models do to `cotangent` times the value.
  std::string transpose(const std::string& cotangent) const;
  /// Whether the value depends on the models.
  bool varies() const { return steps_[result_].varies; }

 private:
  enum class Op { plain, parameter, add, multiply, divide, mean, parallel, select, function };
  struct Step {
    Op op = Op::plain;
    std::string name;    // a variable, or the text of what does not depend on the models
    std::string detail;  // parameter: of the model; select: how many surfaces meet; function: its name
    std::string node;    // parameter: its place in the model
    std::vector<int> args;
    bool varies = false;
  };

  int write(ir::Expr e, const ir::HalfCells& at);
  int fresh(ir::Expr e, const ir::HalfCells& at);
  int push(Step step, const std::string& value);
  int plain(std::string text);
  int chain(Op op, const std::vector<ir::Expr>& args, const ir::HalfCells& at);
  int parameter(const std::string& name, const ir::HalfCells& at);
  int quotient(ir::Expr e, const ir::HalfCells& at);
  int average(ir::Expr e, const ir::HalfCells& at);
  int surface(ir::Expr e, const ir::HalfCells& at);
  int function(ir::Expr e, const ir::HalfCells& at);
  std::vector<int> written(const std::vector<ir::Expr>& args, const ir::HalfCells& at);
  /// The variable, declared once, that holds what `declaration` says of the node `at`.
  std::string place(const std::string& kind, const std::string& call, const ir::HalfCells& at);
  std::string list(const std::vector<int>& args, bool pairs) const;
  std::string slope(const Step& step, std::size_t j) const;
  std::string slope_of_function(const Step& step, std::size_t j) const;
  const std::string& name(int step) const { return steps_[static_cast<std::size_t>(step)].name; }

  int dims_;
  std::string prefix_;
  std::vector<std::pair<std::string, std::string>> values_;  // what a statement declares, and its text
  std::vector<Step> steps_;
  std::size_t result_ = 0;
  std::map<std::pair<std::uint32_t, ir::HalfCells>, int> written_;
  std::map<std::pair<std::string, ir::HalfCells>, std::string> places_;
  int next_ = 0;
};

}  // namespace ondula::emit
