// What standalone sources need besides kernels: layouts, arguments, scalars, coefficients, profiles, factors.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "compiler/emit/nodal_text.hpp"
#include "compiler/emit/standalone_context.hpp"
#include "compiler/error.hpp"
#include "compiler/passes/names.hpp"
#include "templates/templates.hpp"

namespace ondula::emit {
namespace {

using ir::Expr;

/// A parameter's name as a variable of set-up code, apart from those that this has.
std::string variable(const std::string& parameter) {
  static const std::set<std::string> ours = {"grid", "plan",  "models", "arrays", "node", "to",
                                             "dims", "value", "dt",     "met",    "mean", "surfaces"};
  const std::string name = passes::identifier(parameter);
  return ours.contains(name) || name.starts_with("h_") ? name + "_" : name;
}

class SetupPrinter {
 public:
  explicit SetupPrinter(const StandaloneContext& context) : c_(context), p_(context.symbol()) {}

  std::string print() {
    out_ = fmt::format(
        "{}\n#include \"{}.h\"\n\n#include <algorithm>\n#include <cmath>\n#include <initializer_list>\n"
        "#include <vector>\n\n",
        standalone_head(c_), c_.base());
    templates();
    std::string places;
    for (const StandaloneStep* step : c_.steps())
      places += c_.cuda() ? standalone_cuda_places(c_, *step) : standalone_host_places(c_, *step);
    out_ +=
        "\nnamespace {\n\n// Along each axis: half a cell after its node; 0 on a free surface's row; signs "
        "of images; depth.\n";
    const std::string gradient = c_.gradient != nullptr ? standalone_gradient_setup(c_) : "";
    const std::string users = places + standalone_ring_places(c_) + image_places() + gradient;
    for (const StandaloneStep* step : c_.steps()) fields(*step, users);
    out_ += places + "\n}  // namespace\n";
    prepare();
    coefficients();
    profiles();
    for (const ir::Operation& operation : c_.program().operations) {
      if (const auto* injection = std::get_if<ir::Injection>(&operation)) factor(*injection);
    }
    out_ += gradient;
    return std::move(out_);
  }

 private:
  static bool joint(const std::optional<StandaloneStep>& step) {
    return step && std::any_of(step->set.kernels.begin(), step->set.kernels.end(), [](const ir::Kernel& k) {
             return std::any_of(k.pieces.begin(), k.pieces.end(), [](const ir::Piece& p) { return p.mixed; });
           });
  }

  /// How layers are cut, on the way there and on an adjoint's way back.
  std::string cuts() const {
    const auto one = [](const char* name, bool joint, int apron) {
      return fmt::format("[[maybe_unused]] constexpr Cut {}{{{}, {}}};\n", name, joint, apron);
    };
    std::string text = one("cut", joint(c_.forward) || joint(c_.keeping), c_.program().apron_cells());
    if (c_.adjoint) text += one("back_cut", joint(c_.adjoint), c_.adjoint->program().apron_cells());
    return text;
  }

  void templates() {
    const bool electric = std::any_of(c_.program().fields.begin(), c_.program().fields.end(),
                                      [](const ir::Field& field) { return field.electric; });
    std::string surface;
    if (!c_.program().no_surface.empty()) {
      surface =
          "    if (free_surface(grid, axis, 0) || free_surface(grid, axis, 1))\n"
          "      return \"this equation has no free surface\";\n";
    }
    const std::vector<std::pair<std::string, std::string>> values = {
        {"P", p_},
        {"REAL", c_.real_name()},
        {"RADIUS", std::to_string(c_.program().radius())},
        {"FIRST_ORDER", c_.first_order() ? "true" : "false"},
        {"ZERO_FACE", electric ? "rigid" : "free_surface"},
        {"NO_SURFACE", surface},
        {"CUTS", cuts()}};
    out_ += filled(templates::standalone_grid, values);
    out_ += filled(c_.cuda() ? templates::standalone_blocks : templates::standalone_host, values);
    if (!c_.cuda() && c_.dims() == 3) out_ += templates::standalone_tiles;
    if (c_.reverse) out_ += filled(templates::standalone_ring, values);
  }

  /// How each field lives and mirrors, as compiler/ir/domain.cpp has it; in a step back, of what `text`
  /// names.
  void fields(const StandaloneStep& step, const std::string& text) {
    ir::Domain domain;
    domain.dims = c_.dims();
    domain.shape = {64, 64, 64};
    const auto sign = [&](const ir::Field& field, int axis, FaceKind kind) {
      domain.faces = {};
      domain.faces[static_cast<std::size_t>(axis)][0] = kind;
      return domain.image(field, axis, 0, c_.first_order()).sign;
    };
    for (const ir::Field& field : step.program().fields) {
      const std::string name = StandaloneContext::description(step, field.name);
      if (step.direction() != "forward" && !mentions(text, name)) continue;
      std::vector<std::string> half, zero, depth, beyond;
      std::vector<int> surface, wall;
      for (int axis = 0; axis < c_.dims(); ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        half.emplace_back(field.stagger[a] != 0 ? "true" : "false");
        surface.push_back(sign(field, axis, FaceKind::free_surface));
        if (!field.electric) zero.emplace_back(domain.live(field, axis).lo > 0 ? "true" : "false");
        wall.push_back(sign(field, axis, FaceKind::rigid));
        if (field.electric) zero.emplace_back(domain.live(field, axis).lo > 0 ? "true" : "false");
        depth.emplace_back(field.inset ? std::to_string((*field.inset)[a]) : "in_layers");
        beyond.emplace_back(field.beyond_axis == axis ? std::to_string(field.beyond) : "-1");
      }
      out_ += fmt::format("const Field {}{{{{{}}}, {{{}}}, {{{}}}, {{{}}}, {{{}}}, {{{}}}}};\n", name,
                          fmt::join(half, ", "), fmt::join(zero, ", "), fmt::join(surface, ", "),
                          fmt::join(wall, ", "), fmt::join(depth, ", "), fmt::join(beyond, ", "));
    }
  }

  static bool mentions(const std::string& text, const std::string& name) {
    const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
      const std::size_t end = at + name.size();
      if ((at == 0 || !part(text[at - 1])) && (end == text.size() || !part(text[end]))) return true;
    }
    return false;
  }

  /// Declarations of the symbols that expressions use.
  std::string symbols(const NodalNames& names) const {
    std::string text;
    for (const std::string& symbol : names.symbols) {
      if (symbol == "dt") {
        text += "  const double dt = grid->dt;\n";
        continue;
      }
      const auto& axes = c_.program().axes;
      const auto axis =
          symbol.starts_with("h_") ? std::find(axes.begin(), axes.end(), symbol.substr(2)) : axes.end();
      if (axis == axes.end()) throw InternalError("no value for " + symbol);
      text += fmt::format("  const double {} = grid->spacing[{}];\n", symbol, axis - axes.begin());
    }
    return text;
  }

  void sizes() {
    out_ += fmt::format(
        "  const Layout full = full_layout(*grid);\n  plan->origin = full.origin;\n"
        "  for (int axis = 0; axis < dims; ++axis) {{\n"
        "    plan->total[axis] = total(*grid, axis);\n    plan->stride[axis] = full.stride[axis];\n  }}\n");
    if (c_.adjoint) out_ += "  plan->kept_size = full.size;\n";
    std::vector<std::string> memories;
    for (const StandaloneArray& array : c_.arrays) {
      std::string size = "full.size";
      const bool back = array.holder == "adjoint";
      if (array.is_memory()) {
        memories.push_back(c_.memory_layout(back ? *c_.adjoint : c_.forward, array.argument));
        size = memories.back() + ".size";
      }
      // Rows go by vectors and may read past a profile's end by less than one.
      if (array.is_profile()) size = fmt::format("total(*grid, {}) + line", array.argument.axis);
      out_ += fmt::format("  plan->{}sizes.{} = {};\n", back ? "adjoint_" : "", array.member, size);
    }
    if (c_.cuda()) {
      out_ += fmt::format("  plan->wide = wide_indices(*grid, {{full{}{}}}) ? 1 : 0;\n",
                          memories.empty() ? "" : ", ", fmt::join(memories, ", "));
    }
  }

  std::string image_places() const {
    std::string text;
    const auto add = [&](const StandaloneStep& step) {
      for (const std::string& field : step.imaged())
        text +=
            fmt::format("  put_images(*grid, {}, plan->{});\n", StandaloneContext::description(step, field),
                        StandaloneContext::images(step, field));
    };
    add(c_.forward);
    if (c_.adjoint) add(*c_.adjoint);
    return text;
  }

  void prepare() {
    out_ += fmt::format(
        "\nconst char* {0}_prepare(const {0}_grid* grid, {0}_plan* plan) {{\n"
        "  const char* refused = refusal(*grid);\n  if (refused != nullptr) return refused;\n  *plan = "
        "Plan{{}};\n",
        p_);
    sizes();
    scalars();
    for (const StandaloneStep* step : c_.steps()) {
      for (const std::string& name : standalone_places(c_, *step))
        out_ += fmt::format("  place_{}(grid, plan);\n", name);
    }
    out_ += image_places() + standalone_ring_places(c_) + "  return nullptr;\n}\n";
    out_ += fmt::format(
        "\nlong long {0}_at(const {0}_plan* plan, const long long* node) {{\n  long long at = plan->origin;\n"
        "  for (int axis = 0; axis < dims; ++axis) at += node[axis] * plan->stride[axis];\n  return "
        "at;\n}}\n",
        p_);
  }

  void scalars() {
    std::set<std::string> used;
    std::string values;
    for (const StandaloneStep* step : c_.steps()) {
      for (const ir::Kernel& kernel : step->set.kernels) {
        used.insert(kernel.scalars.begin(), kernel.scalars.end());
        for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
          values += fmt::format("  plan->{}_scalars[{}] = static_cast<real>({});\n",
                                c_.short_name(kernel.name), i, kernel.scalars[i]);
        }
      }
    }
    NodalNames names;
    std::string definitions;
    const ParameterPrinter none = [](const std::string& name, const ir::HalfCells&) -> std::string {
      throw InternalError("a scalar depends on parameter " + name);
    };
    for (const ir::Scalar& s : c_.scalars) {
      if (!used.contains(s.name)) continue;
      collect_names(s.definition, false, names);
      definitions += fmt::format("  const double {} = {};\n", s.name, nodal_text(s.definition, none, ""));
    }
    out_ += symbols(names) + definitions + values;
  }

  void coefficients() {
    NodalNames names;
    for (const ir::Coefficient& k : c_.coefficients) collect_names(k.definition, true, names);
    out_ += fmt::format(
        "\nvoid {0}_set_coefficients(const {0}_grid* grid, const {0}_plan* plan, [[maybe_unused]] const "
        "{0}_models* models, [[maybe_unused]] const {0}_arrays* arrays) {{\n",
        p_);
    out_ += symbols(names);
    out_ +=
        "  for_nodes(*grid, [&](const index (&node)[dims]) {\n    [[maybe_unused]] const index from = "
        "model_node(*grid, node);\n";
    out_ += fmt::format("    [[maybe_unused]] const index to = {}_at(plan, node);\n", p_);
    if (names.surfaces) out_ += "    const int met = surfaces(*grid, node);\n";
    for (const std::string& name : names.parameters)
      out_ +=
          fmt::format("    const double {} = models->{}[from];\n", variable(name), passes::identifier(name));
    const ParameterPrinter printer = [](const std::string& name, const ir::HalfCells&) {
      return variable(name);
    };
    for (const ir::Coefficient& k : c_.coefficients) {
      ir::ArrayArgument argument;
      argument.kind = ir::ArrayKind::coefficient;
      argument.name = k.name;
      out_ += fmt::format("    arrays->{}[to] = static_cast<real>({});\n", c_.member(c_.forward, argument),
                          nodal_text(k.definition, printer, "met"));
    }
    out_ += "  });\n}\n";
  }

  void profiles() {
    out_ += fmt::format("\nvoid {0}_set_profiles(const {0}_grid* grid, const {0}_arrays* arrays) {{\n", p_);
    for (int axis = 0; axis < c_.dims(); ++axis) {
      for (const bool half : {false, true}) {
        std::string a = "nullptr", b = "nullptr";
        for (const StandaloneArray& array : c_.arrays) {
          if (!array.is_profile() || array.argument.axis != axis || array.argument.half != half) continue;
          if (array.argument.name != "a" && array.argument.name != "b")
            throw InternalError("standalone sources have no profile " + array.argument.name);
          (array.argument.name == "a" ? a : b) = "arrays->" + array.member;
        }
        if (a == "nullptr" && b == "nullptr") continue;
        out_ += fmt::format("  put_profiles(*grid, {}, {}, {}, {});\n", axis, half, a, b);
      }
    }
    out_ += "}\n";
  }

  void factor(const ir::Injection& injection) {
    NodalNames names;
    collect_names(injection.factor, false, names);
    out_ += fmt::format("\n{} {{\n{}", factor_declaration(c_, injection), symbols(names));
    const int d = c_.dims();
    bool means = false;
    const std::string text = nodal_text(
        injection.factor,
        [&](const std::string& name, const ir::HalfCells& cells) {
          return fmt::format("value(models->{}, {})", passes::identifier(name),
                             fmt::join(cells.begin(), cells.begin() + d, ", "));
        },
        "");
    means = text.find("mean({") != std::string::npos;
    if (means) {
      out_ +=
          "  // The harmonic mean.\n  const auto mean = [](std::initializer_list<double> values) {\n"
          "    double sum = 0;\n    for (const double value : values) sum += 1 / value;\n"
          "    return static_cast<double>(values.size()) / sum;\n  };\n";
    }
    if (!names.parameters.empty()) {
      std::vector<std::string> shifts, at;
      for (int axis = 0; axis < d; ++axis) {
        shifts.push_back(fmt::format("index up_{}", c_.axis(axis)));
        at.push_back(fmt::format("node[{}] + up_{}", axis, c_.axis(axis)));
      }
      out_ += fmt::format(
          "  // A model at the node so many cells further along each axis.\n"
          "  const auto value = [&](const double* model, {}) {{\n"
          "    const index there[dims] = {{{}}};\n    return model[model_node(*grid, there)];\n  }};\n",
          fmt::join(shifts, ", "), fmt::join(at, ", "));
    }
    out_ += fmt::format("  return {};\n}}\n", text);
  }

  const StandaloneContext& c_;
  std::string p_;
  std::string out_;
};

}  // namespace

std::string standalone_setup(const StandaloneContext& context) { return SetupPrinter(context).print(); }

bool factor_needs_models(const ir::Injection& injection) {
  NodalNames names;
  collect_names(injection.factor, false, names);
  return !names.parameters.empty();
}

std::string factor_declaration(const StandaloneContext& c, const ir::Injection& injection) {
  // Only what the factor depends on: compilers warn of unused parameters.
  return fmt::format("double {0}_factor_{1}(const {0}_grid* grid{2})", c.symbol(),
                     plain_identifier(injection.source),
                     factor_needs_models(injection)
                         ? fmt::format(", const {0}_models* models, const long long* node", c.symbol())
                         : "");
}

}  // namespace ondula::emit
