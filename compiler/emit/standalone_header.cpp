// The header of standalone sources: argument structs and launchers in C.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "compiler/emit/standalone_context.hpp"
#include "compiler/passes/names.hpp"

namespace ondula::emit {
namespace {

std::string meaning(const StandaloneContext& c, const StandaloneArray& array) {
  const ir::ArrayArgument& a = array.argument;
  const auto& axes = c.program().axes;
  if (array.is_profile())
    return fmt::format("profile {} of the layers of {}{}", a.name, c.axis(a.axis),
                       a.half ? ", at half cells" : "");
  if (array.is_coefficient()) {
    return a.name + " = " + ir::text(c.program().find_coefficient(a.name)->definition, axes);
  }
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

std::string members(const StandaloneContext& c, const std::string& type, bool told) {
  std::string text;
  for (const StandaloneArray& array : c.arrays)
    text += fmt::format("  {}{};{}\n", type, array.member, told ? "  // " + meaning(c, array) : "");
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
  if (c.cuda != nullptr)
    text += "  int multiprocessors;  // of the device: how far a block walks, never a result\n";
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
      c.cuda != nullptr ? "device" : "the", p, members(c, real + "* ", true), p);
  text += fmt::format(
      "// How many elements each needs; all are to start from zero. 0: the array may be null.\n"
      "typedef struct {}_sizes {{\n{}}} {}_sizes;\n\n",
      p, members(c, "long long ", false), p);
  text += fmt::format("// The models, C order over the grid's shape.\ntypedef struct {}_models {{\n", p);
  for (const ir::Parameter& parameter : c.program().parameters)
    text += fmt::format("  const double* {};  // {}\n", passes::identifier(parameter.name), parameter.unit);
  text += fmt::format("}} {}_models;\n\n", p);
  text += fmt::format(
      "// Beyond the faces of one axis, entry to[k] repeats entry from[k] with a sign.\n"
      "typedef struct {0}_images {{\n  long long count;\n  long long to[{1}];\n  long long from[{1}];\n"
      "  {2} sign[{1}];\n}} {0}_images;\n\n",
      p, 2 * c.halo() + 1, real);
  text += fmt::format(
      "// What follows from a grid.\ntypedef struct {0}_plan {{\n"
      "  {0}_sizes sizes;\n"
      "  long long total[{1}];  // nodes, layers counted\n"
      "  long long stride[{1}];  // of fields and coefficients, in elements\n"
      "  long long origin;  // the element of their node 0\n",
      p, d);
  for (const std::string& field : c.imaged())
    text += fmt::format("  {}_images {}_images[{}];\n", p, plain_identifier(field), d);
  return text + standalone_plan_members(c) + fmt::format("}} {}_plan;\n\n", p);
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
      p, c.cuda != nullptr ? " These arrays in host memory, to be copied." : "");
  for (const ir::Operation& operation : c.program().operations) {
    const auto* injection = std::get_if<ir::Injection>(&operation);
    if (injection == nullptr) continue;
    text += fmt::format(
        "\n// A point source of {} with amplitude s adds this factor times s, over a cell's volume, to {} at "
        "its "
        "node.\n{};\n",
        injection->source, c.written(injection->field), factor_declaration(c, *injection));
  }
  return text;
}

std::string step_functions(const StandaloneContext& c) {
  const std::string p = c.symbol();
  const std::string result = c.result();
  const std::string stream = c.stream_parameter();
  std::string text = "\n// A step, in this order:\n";
  for (const StandalonePart& part : c.parts) {
    if (part.sweep >= 0) {
      text += fmt::format("//   {}\n", c.launcher(part.sweep));
    } else if (part.injection >= 0) {
      text += fmt::format("//   sources of {} are added to {}\n", c.injection(part.injection).source,
                          c.written(c.injection(part.injection).field));
    } else {
      text += fmt::format("//   {}\n", c.images_launcher(part));
    }
  }
  for (const ir::Field& field : c.program().fields) {
    if (field.time_order == 2)
      text += fmt::format("//   the addresses {} and {} change places\n", c.current(field.name),
                          c.written(field.name));
  }
  text +=
      "// Fields are looked at before a step. A sweep computes, images fill the halos beyond faces that are "
      "not absorbing.\n";
  if (c.cuda != nullptr)
    text += "// `stream` is a cudaStream_t. Launchers return what cudaGetLastError does; nothing waits.\n";
  for (const StandalonePart& part : c.parts) {
    if (part.injection >= 0) continue;
    text += fmt::format("{} {}(const {}_plan* plan, const {}_arrays* arrays{});\n", result,
                        part.sweep >= 0 ? c.launcher(part.sweep) : c.images_launcher(part), p, p, stream);
  }
  const std::string real = c.real_name();
  text += fmt::format(
      "\n// array[at[k]] += amounts[k]; the places differ. values[k] = array[at[k]].{4}\n"
      "{1} {0}_add({2}* array, long long count, const long long* at, const {2}* amounts{3});\n"
      "{1} {0}_read(const {2}* array, long long count, const long long* at, {2}* values{3});\n",
      p, result, real, stream, c.cuda != nullptr ? " All in device memory." : "");
  return text;
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
  return text + fmt::format(
                    "#ifndef {0}_H\n#define {0}_H\n\n"
                    "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
                    "enum {{\n  {0}_dims = {1},\n  {0}_halo = {2}  // cells around fields and "
                    "coefficients\n}};\n\n{3}{4}{5}\n"
                    "#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
                    p, c.dims(), c.halo(), structs(c), setup_functions(c), step_functions(c));
}

}  // namespace ondula::emit
