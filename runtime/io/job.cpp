// The job file: what a run is asked to do, as plain data with every default filled in.
// SPDX-License-Identifier: MIT
#include "runtime/io/job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "compiler/error.hpp"
#include "runtime/backend.hpp"
#include "runtime/io/job_reader.hpp"
#include "runtime/io/job_sections.hpp"
#include "runtime/io/suggest.hpp"

namespace ondula::io {

namespace {

const std::vector<std::string>& job_keys() {
  static const std::vector<std::string> keys = {"equation",     "grid",     "time",    "order",   "dtype",
                                                "backend",      "device",   "threads", "tune",    "models",
                                                "absorb",       "initial",  "wavelet", "sources", "receivers",
                                                "free_surface", "geometry", "memory",  "output",  "observed",
                                                "misfit",       "gradient", "born",    "invert",  "mesh"};
  return keys;
}

bool is_path(const std::string& equation) {
  return equation.find('/') != std::string::npos || equation.ends_with(".cpp") || equation.ends_with(".hpp");
}

/// Node or option: `key` is what the message calls it.
int parse_order(const Node& node) {
  const auto& orders = supported_orders();
  const std::string allowed = fmt::format("one of the supported orders {}", fmt::join(orders, ", "));
  if (!node.value().is_number_integer()) node.fail(allowed);
  const auto order = node.value().get<std::int64_t>();
  if (std::find(orders.begin(), orders.end(), order) == orders.end()) node.fail(allowed);
  return static_cast<int>(order);
}

DType parse_dtype(const Node& node) {
  return node.choice({"float32", "float64"}) == "float64" ? DType::float64 : DType::float32;
}

Backend parse_backend(const Node& node) { return backend_of(node.choice(backend_names())); }

int parse_device(const Node& node) {
  constexpr std::int64_t most = 1023;
  return static_cast<int>(node.integer(0, most));
}

std::optional<int> parse_threads(const Node& node) {
  if (node.value() == "auto") return std::nullopt;
  if (!node.value().is_number()) node.fail(R"("auto", or a whole number from 1 to 4096)");
  return static_cast<int>(node.integer(1, 4096));
}

void parse_models(const Node& root, Job& job, ParseContext& context) {
  for (const auto& [name, node] :
       root.at("models", "one entry per parameter: a number, a file, ...").members()) {
    job.models.emplace_back(name, parse_model(node, job.grid, context));
  }
  if (const auto initial = root.find("initial")) {
    for (const auto& [name, node] : initial->members()) {
      job.initial.emplace_back(name, parse_model(node, job.grid, context));
    }
  }
}

void parse_survey(const Node& root, Job& job, ParseContext& context) {
  if (const auto wavelet = root.find("wavelet")) job.wavelet = parse_wavelet(*wavelet, context);
  if (const auto sources = root.find("sources")) {
    for (const Node& node : sources->items()) {
      job.sources.push_back(parse_source(node, job.grid, context));
      if (!job.wavelet && !job.sources.back().wavelet) {
        node.refuse("this source has no wavelet; give it a \"wavelet\", or the whole job one");
      }
    }
  }
  if (const auto receivers = root.find("receivers")) {
    for (const Node& node : receivers->items()) job.receivers.push_back(parse_receiver(node, job.grid));
  }
  const auto geometry = root.find("geometry");
  if (geometry && (root.has("sources") || root.has("receivers"))) {
    geometry->refuse("it replaces \"sources\" and \"receivers\"; keep one or the other");
  }
  if (geometry) job.geometry = parse_geometry(*geometry, job.grid, job.wavelet.has_value(), context);
}

void apply(const Overrides& options, Job& job) {
  // Each option passes through the check of its key, so that both know the same words and ranges.
  if (options.backend) job.backend = parse_backend(Node(*options.backend, "--backend"));
  if (options.device) job.device = parse_device(Node(*options.device, "--device"));
  if (options.tune) job.tune = true;
  if (options.dtype) job.dtype = parse_dtype(Node(*options.dtype, "--dtype"));
  if (options.order) job.order = parse_order(Node(*options.order, "--order"));
  if (options.threads) job.threads = parse_threads(Node(*options.threads, "--threads"));
  if (options.output)
    job.output.directory = std::filesystem::absolute(*options.output).lexically_normal().string();
  if (options.dims && *options.dims != static_cast<int>(job.grid.axes.size())) {
    throw UserError(fmt::format("--dims: found {}, but grid.axes of the job names {} ({}); allowed: {}",
                                *options.dims, job.grid.axes.size(), list_of(job.grid.axes),
                                job.grid.axes.size()));
  }
}

void check_extent(const Job& job) {
  // A mirror about the outermost row reads order/2 rows beyond it, hence that many on this side.
  const int least = job.order / 2 + 1;
  for (std::size_t axis = 0; axis < job.grid.shape.size(); ++axis) {
    if (job.grid.shape[axis] >= least) continue;
    throw UserError(
        fmt::format("grid.shape[{}]: found {} nodes on axis {}, smaller than the stencil of order {}; "
                    "allowed: at least {} "
                    "(order/2 + 1), or a lower order",
                    axis, job.grid.shape[axis], job.grid.axes[axis], job.order, least));
  }
}

void refuse_unsupported(const ParseContext& context) {
  if (context.unsupported.empty()) return;
  throw UserError("not supported by this version: " +
                  fmt::format("{}", fmt::join(context.unsupported, "; ")));
}

}  // namespace

void ParseContext::refuse_later(const Node& node, const std::string& why) {
  const std::string reason = why.empty() ? "" : "; " + why;
  unsupported.push_back(fmt::format("{} (found {}{})", node.path(), node.found(), reason));
}

std::string ParseContext::path(const Node& node) const {
  if (!node.value().is_string()) node.fail("the path of a file or folder, as text");
  const std::filesystem::path given = node.text();
  if (given.is_absolute() || folder.empty()) return given.lexically_normal().string();
  return (std::filesystem::path(folder) / given).lexically_normal().string();
}

const std::vector<int>& supported_orders() {
  static const std::vector<int> orders = {2, 4, 6, 8, 10, 12, 14, 16};
  return orders;
}

Job parse_job(std::string_view text, const std::string& folder, const Overrides& overrides) {
  const nlohmann::ordered_json document = parse_strict(text);
  const Node root(document, "");
  root.only(job_keys());
  ParseContext context;
  context.folder = folder;
  Job job;
  const Node equation = root.at("equation", "an equation's name or the path of a C++ equation file");
  job.equation = equation.text();
  if (is_path(job.equation)) job.equation = context.path(equation);
  job.grid = parse_grid(root.at("grid", "axes, shape and spacing"));
  parse_faces(root.find("free_surface"), root.find("absorb"), job);
  parse_time(root.at("time", "dt and steps"), job);
  if (const auto order = root.find("order")) job.order = parse_order(*order);
  if (const auto dtype = root.find("dtype")) job.dtype = parse_dtype(*dtype);
  if (const auto backend = root.find("backend")) job.backend = parse_backend(*backend);
  if (const auto device = root.find("device")) job.device = parse_device(*device);
  if (const auto tune = root.find("tune")) job.tune = tune->boolean();
  if (const auto threads = root.find("threads")) job.threads = parse_threads(*threads);
  parse_models(root, job, context);
  parse_survey(root, job, context);
  if (const auto memory = root.find("memory")) job.memory = parse_memory(*memory, context);
  const auto output = root.find("output");
  if (output) job.output = parse_output(*output, context);
  if (!output || !output->has("directory"))
    job.output.directory = context.path(Node("out", "output.directory"));
  parse_inverse(root, job, context);
  parse_later(root, job.grid, context);
  apply(overrides, job);
  refuse_unsupported(context);
  check_extent(job);
  return job;
}

Job read_job(const std::string& file, const Overrides& overrides) {
  std::error_code ignored;
  std::ifstream stream(file, std::ios::binary);
  if (!stream || std::filesystem::is_directory(file, ignored)) {
    throw UserError(fmt::format("{}: cannot be read; a job is a JSON file", file));
  }
  std::ostringstream text;
  text << stream.rdbuf();
  const auto folder = std::filesystem::absolute(file).parent_path();
  try {
    return parse_job(text.str(), folder.string(), overrides);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}", file, error.what()));
  }
}

}  // namespace ondula::io
