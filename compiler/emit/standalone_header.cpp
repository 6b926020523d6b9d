// The header of standalone sources: argument structs and launchers in C.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "compiler/emit/standalone_context.hpp"
#include "compiler/passes/names.hpp"

namespace ondula::emit {
namespace {

/// Of a field of the adjoint.
std::string meaning_back(const StandaloneContext& c, const StandaloneArray& array) {
  const ir::Field& field = c.adjoint->program().field(array.argument.name);
  if (field.saved) {
    const char* const when = array.argument.slot == 0 ? "after" : "before";
    return fmt::format("{} as the forward run kept it, {} the step that is transposed", array.member, when);
  }
  if (array.is_memory()) {
    return fmt::format("memory variable {} of the layer {} {}", field.name,
                       array.argument.side == 0 ? "before" : "after", c.axis(field.strip_axis));
  }
  if (field.accumulator) return "a sum over all steps, of which the gradient is made";
  if (field.time_order != 2) return "adjoint of " + field.name + ", with a coefficient";
  return fmt::format(
      "adjoint of {}, with a coefficient, {}", field.name,
      array.argument.slot == 0 ? "now" : "one step later in time; the next is written over it");
}

std::string meaning(const StandaloneContext& c, const StandaloneArray& array) {
  if (array.holder == "adjoint") return meaning_back(c, array);
  const ir::ArrayArgument& a = array.argument;
  const auto& axes = c.program().axes;
  if (array.is_profile())
    return fmt::format("profile {} of the layers of {}{}", a.name, c.axis(a.axis),
                       a.half ? ", at half cells" : "");
  if (array.is_coefficient()) {
    for (const ir::Coefficient& k : c.coefficients) {
      if (k.name == a.name) return a.name + " = " + ir::text(k.definition, axes);
    }
  }
  if (array.kept) return "where a step that is kept writes " + a.name + "; null in other steps";
  const ir::Field& field = c.program().field(a.name);
  if (array.is_memory()) {
    return fmt::format("memory variable {} of the layer {} {}", field.name, a.side == 0 ? "before" : "after",
                       c.axis(field.strip_axis));
  }
  std::string text = fmt::format("{}, {}", field.name, field.unit);
  if (field.time_order == 2)
    text += a.slot == 0 ? ", now" : ", the step before; a step writes the next over it";
  if (field.half_step) text += ", half a step before the others";
  std::string half;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (field.stagger[axis] != 0) half += (half.empty() ? "" : " and ") + axes[axis];
  }
  return half.empty() ? text : text + ", half a cell after its node along " + half;
}

std::string members(const StandaloneContext& c, const std::string& holder, const std::string& type,
                    bool told) {
  std::string text;
  for (const StandaloneArray& array : c.arrays) {
    if (array.holder == holder)
      text += fmt::format("  {}{};{}\n", type, array.member, told ? "  // " + meaning(c, array) : "");
  }
  return text;
}

std::string grid(const StandaloneContext& c) {
  const int d = c.dims();
  std::string text = fmt::format(
      "// What bounds the model on a face: an absorbing layer, a free surface, a rigid wall; or the axis "
      "goes round.\n"
      "enum {{ {0}_absorbing, {0}_free_surface, {0}_rigid, {0}_periodic }};\n\n"
      "// The grid of a run. Axes are {1}, slowest first; [0] is the face before the model, [1] the one "
      "after it.\n"
      "typedef struct {0}_grid {{\n"
      "  long long shape[{2}];  // nodes of the model along each axis\n"
      "  int face[{2}][2];\n"
      "  long long width[{2}][2];  // cells of an absorbing layer, outside the model; 0 on other faces\n"
      "  double spacing[{2}];  // m\n"
      "  double dt;  // s\n"
      "  double layer_velocity;  // the fastest of the model, m/s\n"
      "  double layer_frequency;  // the wavelet's, Hz\n",
      c.symbol(), fmt::join(c.program().axes, ", "), d);
  if (c.cuda()) text += "  int multiprocessors;  // of the device: how far a block walks, never a result\n";
  return text + fmt::format("}} {}_grid;\n\n", c.symbol());
}

std::string structs(const StandaloneContext& c) {
  const std::string p = c.symbol();
  const int d = c.dims();
  const std::string real = c.real_name();
  std::string text = grid(c);
  text += fmt::format(
      "// Every array of a run: {} addresses of first elements.\ntypedef struct {}_arrays {{\n{}}} "
      "{}_arrays;\n\n",
      c.cuda() ? "device" : "the", p, members(c, "arrays", real + "* ", true), p);
  text += fmt::format(
      "// How many elements each needs; all are to start from zero. 0: the array may be null.\n"
      "typedef struct {}_sizes {{\n{}}} {}_sizes;\n\n",
      p, members(c, "arrays", "long long ", false), p);
  if (c.adjoint) {
    text += fmt::format(
        "// The arrays of an adjoint, which also uses coefficients and profiles of those above.\n"
        "typedef struct {0}_adjoint_arrays {{\n{1}}} {0}_adjoint_arrays;\n\n"
        "typedef struct {0}_adjoint_sizes {{\n{2}}} {0}_adjoint_sizes;\n\n",
        p, members(c, "adjoint", real + "* ", true), members(c, "adjoint", "long long ", false));
  }
  text += fmt::format("// The models, C order over the grid's shape.\ntypedef struct {}_models {{\n", p);
  for (const ir::Parameter& parameter : c.program().parameters)
    text += fmt::format("  const double* {};  // {}\n", passes::identifier(parameter.name), parameter.unit);
  text += fmt::format("}} {}_models;\n\n", p);
  text += fmt::format(
      "// Beyond the faces of one axis, entry to[k] repeats entry from[k] with a sign.\n"
      "typedef struct {0}_images {{\n  long long count;\n  long long to[{1}];\n  long long from[{1}];\n"
      "  {2} sign[{1}];\n}} {0}_images;\n\n",
      p, 2 * c.halo() + 1, real);
  text += standalone_ring_depths(c);
  text += fmt::format(
      "// What follows from a grid.\ntypedef struct {0}_plan {{\n"
      "  {0}_sizes sizes;\n{2}"
      "  long long total[{1}];  // nodes, layers counted\n{3}"
      "  long long stride[{1}];  // of fields and coefficients, in elements\n"
      "  long long origin;  // the element of their node 0\n",
      p, d, c.adjoint ? fmt::format("  {}_adjoint_sizes adjoint_sizes;\n", p) : "",
      c.adjoint ? "  long long kept_size;  // elements of each array that is kept of a step\n" : "");
  const auto images = [&](const StandaloneStep& step) {
    for (const std::string& field : step.imaged())
      text += fmt::format("  {}_images {}[{}];\n", p, StandaloneContext::images(step, field), d);
  };
  images(c.forward);
  if (c.adjoint) images(*c.adjoint);
  text += standalone_ring_members(c);
  for (const StandaloneStep* step : c.steps()) text += standalone_plan_members(c, *step);
  if (c.cuda()) text += "  int wide;  // whether indices need more than 31 bits\n";
  return text + fmt::format("}} {}_plan;\n\n", p);
}

std::string setup_functions(const StandaloneContext& c) {
  const std::string p = c.symbol();
  std::string text = fmt::format(
      "// Fills a plan. Null, or in words why the grid is refused. It does not know the models: that dt is "
      "under "
      "the\n// stability limit is the caller's to see to.\n"
      "const char* {0}_prepare(const {0}_grid* grid, {0}_plan* plan);\n\n"
      "// The element of a node, its index along each axis, layers counted, in the array of a field.\n"
      "long long {0}_at(const {0}_plan* plan, const long long* node);\n\n"
      "// Fills the coefficients, once for each model. Layers continue the model's edge.{1}\n"
      "void {0}_set_coefficients(const {0}_grid* grid, const {0}_plan* plan, const {0}_models* models, "
      "const {0}_arrays* arrays);\n\n"
      "// Fills the profiles of the absorbing layers, once for each grid.{1}\n"
      "void {0}_set_profiles(const {0}_grid* grid, const {0}_arrays* arrays);\n",
      p, c.cuda() ? " These arrays in host memory, to be copied." : "");
  for (const ir::Operation& operation : c.program().operations) {
    const auto* injection = std::get_if<ir::Injection>(&operation);
    if (injection == nullptr) continue;
    text += fmt::format(
        "\n// A point source of {} with amplitude s adds this factor times s, over a cell's volume, to {} at "
        "its "
        "node.\n{};\n",
        injection->source, c.written(c.forward, injection->field), factor_declaration(c, *injection));
  }
  return text;
}

/// What an injection of a step does, in words.
std::string injected(const StandaloneContext& c, const StandaloneStep& step, int operation) {
  const ir::Injection& injection = step.injection(operation);
  if (step.adjoint()) {
    return fmt::format("residuals of {} are added to {}{}", injection.source,
                       c.written(step, injection.field),
                       injection.times.empty() ? "" : ", times what was kept before the step");
  }
  const bool off = step.back() && step.takes_off(c.program(), injection);
  return fmt::format("{} of {} {} {}", step.back() ? "that step's sources" : "sources", injection.source,
                     off ? "are taken off" : "are added to", c.written(step, injection.field));
}

/// What is done, a line each.
std::string order_of(const StandaloneContext& c, const StandaloneStep& step) {
  std::string text;
  for (const StandalonePart& part : step.parts) {
    if (!part.looks.empty())
      text += fmt::format("//   at sources {} are looked at\n", fmt::join(part.looks, ", "));
    else if (part.injection >= 0)
      text += fmt::format("//   {}\n", injected(c, step, part.injection));
    else
      text += fmt::format("//   {}\n", c.launcher(step, part));
  }
  const StandaloneStep& levels = step.adjoint() ? step : c.forward;
  for (const ir::Field& field : step.program().fields) {
    if (field.time_order == 2 && !field.saved)
      text += fmt::format("//   the addresses {} and {} change places\n", c.current(levels, field.name),
                          c.written(levels, field.name));
  }
  return text;
}

std::string declarations(const StandaloneContext& c, const StandaloneStep& step) {
  std::string text;
  for (const StandalonePart& part : step.parts) {
    if (part.injection >= 0 || !part.looks.empty()) continue;
    const std::string ring = part.rings.empty() ? "" : ", const " + c.real_name() + "* ring";
    text += fmt::format("{} {}(const {}_plan* plan, {}{}{});\n", c.result(), c.launcher(step, part),
                        c.symbol(), c.array_parameters(step), ring, c.stream_parameter());
  }
  return text;
}

std::string step_functions(const StandaloneContext& c) {
  const std::string p = c.symbol();
  const std::string real = c.real_name();
  std::string text = "\n// A step, in this order:\n" + order_of(c, c.forward) +
                     "// Fields are looked at before a step. A sweep computes, images fill the halos beyond "
                     "faces that are not absorbing.\n";
  if (c.cuda())
    text += "// `stream` is a cudaStream_t. Launchers return what cudaGetLastError does; nothing waits.\n";
  text += declarations(c, c.forward);
  text += fmt::format(
      "\n// array[at[k]] += amounts[k]; the places differ. values[k] = array[at[k]].{4}\n"
      "{1} {0}_add({2}* array, long long count, const long long* at, const {2}* amounts{3});\n"
      "{1} {0}_read(const {2}* array, long long count, const long long* at, {2}* values{3});\n",
      p, c.result(), real, c.stream_parameter(), c.cuda() ? " All in device memory." : "");
  return text;
}

std::string reverse_functions(const StandaloneContext& c) {
  if (!c.reverse) return "\n// No step backwards in time: " + c.names.no_reverse + "\n";
  const std::string p = c.symbol();
  std::string text = fmt::format(
      "\n// Keeps what undoing the next step will need: plan->ring_size elements{4}. To be called before "
      "that "
      "step.\n{1} {0}_keep_ring(const {0}_plan* plan, const {0}_arrays* arrays, {2}* ring{3});\n",
      p, c.result(), c.real_name(), c.stream_parameter(), c.cuda() ? " of device memory" : "");
  text +=
      "\n// A step back, in this order, from what a step left to what it found, inside the model; `ring` is "
      "what was kept before\n// that step. In the layers nothing is undone: neither fields nor memory "
      "variables mean anything there any more.\n";
  return text + order_of(c, *c.reverse) + declarations(c, *c.reverse);
}

std::string gradient_functions(const StandaloneContext& c) {
  if (!c.adjoint) return "\n// No gradient: " + c.names.no_gradient + "\n";
  std::string text =
      "\n// A step whose result is kept for a gradient: the same fields, bit for bit. First "
      "..._bind_kept, and after it\n// ..._keep. In this order:\n" +
      order_of(c, *c.keeping) + declarations(c, *c.keeping);
  text +=
      "\n// A step of the adjoint, the transpose of a step, from the last to the first, in this order; "
      "first ..._bind_adjoint:\n" +
      order_of(c, *c.adjoint) + declarations(c, *c.adjoint);
  return text + standalone_gradient_header(c);
}

}  // namespace

std::string standalone_head(const StandaloneContext& c) {
  std::string text =
      fmt::format("// {}: {}\n// Axes {} (slowest first), order {} in space, {}. Written by Ondula {}.\n",
                  c.program().equation, c.program().description, fmt::join(c.program().axes, ", "),
                  c.program().order, c.real == Real::float32 ? "float32" : "float64", c.names.version);
  return text;
}

std::string standalone_header(const StandaloneContext& c) {
  const std::string p = c.symbol();
  std::string text = standalone_head(c) +
                     "//\n// What a step computes (' after it, ` one step before; D2z: second derivative "
                     "along z, D1zs: first one, between nodes and half cells):\n//\n";
  for (const std::string& equation : c.names.equations) text += "//     " + equation + "\n";
  if (c.reverse) {
    text +=
        "//\n// What a step back computes inside the model (' before the step it undoes, ` after it):\n//\n";
    for (const std::string& equation : c.names.reversed) text += "//     " + equation + "\n";
  }
  if (c.adjoint) {
    text +=
        "//\n// What a step of the adjoint computes, outside the layers (' before the step it transposes, ` "
        "after it):\n//\n";
    for (const std::string& equation : c.names.adjoint) text += "//     " + equation + "\n";
  }
  return text + fmt::format(
                    "#ifndef {0}_H\n#define {0}_H\n\n"
                    "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
                    "enum {{\n  {0}_dims = {1},\n  {0}_halo = {2}  // cells around fields and "
                    "coefficients\n}};\n\n{3}{4}{5}{6}{7}\n"
                    "#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
                    p, c.dims(), c.halo(), structs(c), setup_functions(c), step_functions(c),
                    reverse_functions(c), gradient_functions(c));
}

}  // namespace ondula::emit
