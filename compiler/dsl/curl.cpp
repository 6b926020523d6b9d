// The curl, in two and three dimensions, and the vectors that live where curls do.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compiler/dsl/access.hpp"
#include "compiler/error.hpp"

namespace ondula::dsl {
namespace {

using ir::Expr;

/// The sign of the permutation that makes x, y, z of three axes; 0 where two are the same.
int handedness(char a, char b, char c) {
  static const std::string even = "xyzxy";
  if (a == b || b == c || c == a) return 0;
  return even.find({a, b, c}) != std::string::npos ? 1 : -1;
}

/// The axes by their letters, and the letter of the one that is left out in two dimensions.
struct Frame {
  std::string letters;
  char missing = 0;
};

Frame frame_of(Author* author, const Located& of) {
  Frame frame;
  const auto& axes = Access::equation(author).axes;
  for (const std::string& axis : axes) frame.letters += axis;
  if (axes.size() < 2)
    Access::fail(author, of.where, "curl() needs two or three axes: along one axis it has no component");
  for (const char letter : {'x', 'y', 'z'}) {
    if (frame.letters.find(letter) == std::string::npos) frame.missing = letter;
  }
  if (frame.letters.size() != axes.size() || (axes.size() == 3) != (frame.missing == 0)) {
    Access::fail(author, of.where,
                 fmt::format("curl() needs axes among x, y, z; found {}", fmt::join(axes, ", ")));
  }
  return frame;
}

/// sum_b handedness(a, b, c) d_b of a component along c.
Expr component(Author* author, const Located& of, const Frame& frame, char a,
               const std::vector<std::pair<char, Expr>>& parts) {
  ir::Pool& pool = Access::pool(author);
  std::vector<Expr> terms;
  for (std::size_t b = 0; b < frame.letters.size(); ++b) {
    for (const auto& [c, part] : parts) {
      const int sign = handedness(a, frame.letters[b], c);
      if (sign == 0) continue;
      const Expr slope = first_derivative(author, of, part, static_cast<int>(b));
      terms.push_back(sign > 0 ? slope : pool.negate(slope));
    }
  }
  return pool.sum(std::move(terms));
}

/// True if a rank-1 tensor's components lie where a vector's do: half a cell along their own axis.
bool polar(Author* author, const Tensor& t) { return Access::stagger(author, t.components()[0], 0) == 1; }

}  // namespace

Tensor curl(const Located& tensor) {
  Author* author = require_author(tensor, "the curl");
  const Frame frame = frame_of(author, tensor);
  const bool flat = frame.missing != 0;
  const int rank = tensor.tensor.rank();
  if (rank > 1 || (rank == 0 && !flat)) {
    Access::fail(author, tensor.where,
                 fmt::format("curl() takes a vector or an axial vector{}, found {}",
                             flat ? ", or a scalar in two dimensions" : "",
                             rank == 0 ? "a scalar" : "a rank-2 tensor"));
  }
  if (flat && rank == 1 && polar(author, tensor.tensor)) {
    Access::fail(author, tensor.where,
                 "curl() of a vector in two dimensions is one number at the cells' centres, and no kind of "
                 "field lives there: take the axial vector and the scalar instead");
  }
  std::vector<std::pair<char, Expr>> parts;
  if (rank == 0) parts.emplace_back(frame.missing, tensor.tensor.components()[0]);
  for (std::size_t c = 0; rank == 1 && c < frame.letters.size(); ++c)
    parts.emplace_back(frame.letters[c], tensor.tensor.components()[c]);
  std::vector<Expr> components;
  if (flat && rank == 1) {
    components.push_back(component(author, tensor, frame, frame.missing, parts));
  } else {
    for (const char a : frame.letters) components.push_back(component(author, tensor, frame, a, parts));
  }
  return Access::make(author, flat && rank == 1 ? 0 : 1, std::move(components),
                      per_metre(tensor.tensor.unit(), 1));
}

void require_curls(Author* author, const std::string& name, const std::source_location& where) {
  if (Access::dims(author) > 1) return;
  Access::fail(author, where,
               fmt::format("axial_vector(\"{}\") needs two or three axes: curls have no place on one", name));
}

}  // namespace ondula::dsl
