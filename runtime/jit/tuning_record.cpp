// Writes and reads the tuner's records.
// SPDX-License-Identifier: MIT
#include "runtime/jit/tuning_record.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "compiler/error.hpp"
#include "compiler/passes/cuda_candidates.hpp"
#include "runtime/jit/cache_key.hpp"

namespace ondula::jit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* checksum = "checksum";

[[noreturn]] void refuse(const std::string& reason) { throw InternalError(reason); }

std::string hash_of(const Json& json) {
  const std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  return hash_hex(std::as_bytes(std::span(text)));
}

Json write(const TunedCandidate& candidate) {
  const passes::CudaShape& s = candidate.shape;
  Json json{{"march", s.march},
            {"block", s.block},
            {"min_blocks", s.min_blocks},
            {"rows_per_strip", s.rows_per_strip},
            {"seconds", candidate.seconds}};
  if (!candidate.refused.empty()) json["refused"] = candidate.refused;
  return json;
}

TunedCandidate read_candidate(const Json& json) {
  TunedCandidate candidate;
  json.at("march").get_to(candidate.shape.march);
  json.at("block").get_to(candidate.shape.block);
  json.at("min_blocks").get_to(candidate.shape.min_blocks);
  json.at("rows_per_strip").get_to(candidate.shape.rows_per_strip);
  json.at("seconds").get_to(candidate.seconds);
  candidate.refused = json.value("refused", "");
  return candidate;
}

TunedKernel read_kernel(const Json& json) {
  TunedKernel kernel;
  json.at("name").get_to(kernel.name);
  json.at("chosen").get_to(kernel.chosen);
  for (const Json& candidate : json.at("candidates")) kernel.candidates.push_back(read_candidate(candidate));
  if (kernel.chosen >= kernel.candidates.size())
    refuse(fmt::format("kernel {}: candidate {} of {} is chosen", kernel.name, kernel.chosen,
                       kernel.candidates.size()));
  return kernel;
}

TuningRecord read(const Json& json) {
  TuningRecord record;
  const Json& subject = json.at("subject");
  subject.at("program").get_to(record.subject.program);
  subject.at("device").get_to(record.subject.device);
  subject.at("multiprocessors").get_to(record.subject.multiprocessors);
  subject.at("driver").get_to(record.subject.driver);
  subject.at("grid").get_to(record.subject.grid);
  json.at("equation").get_to(record.equation);
  json.at("architecture").get_to(record.architecture);
  json.at("nvrtc").get_to(record.nvrtc);
  json.at("created").get_to(record.created);
  for (const Json& kernel : json.at("kernels")) record.kernels.push_back(read_kernel(kernel));
  return record;
}

}  // namespace

passes::CudaShapes TuningRecord::shapes() const {
  passes::CudaShapes shapes;
  for (const TunedKernel& kernel : kernels) shapes[kernel.name] = kernel.candidates[kernel.chosen].shape;
  return shapes;
}

std::string tuning_key(const TuningSubject& subject) {
  KeyBuilder key;
  key.add(fmt::format("tuning {}", tuning_format)).add(subject.program).add(subject.device);
  key.add(std::to_string(subject.multiprocessors)).add(subject.driver).add(subject.grid);
  return key.hex();
}

std::string encode_record(const TuningRecord& record) {
  const TuningSubject& s = record.subject;
  Json json{{"tuning", tuning_format},
            {"subject",
             {{"program", s.program},
              {"device", s.device},
              {"multiprocessors", s.multiprocessors},
              {"driver", s.driver},
              {"grid", s.grid}}},
            {"equation", record.equation},
            {"architecture", record.architecture},
            {"nvrtc", record.nvrtc},
            {"created", record.created},
            {"kernels", Json::array()}};
  for (const TunedKernel& kernel : record.kernels) {
    Json candidates = Json::array();
    for (const TunedCandidate& candidate : kernel.candidates) candidates.push_back(write(candidate));
    json["kernels"].push_back(
        {{"name", kernel.name}, {"chosen", kernel.chosen}, {"candidates", std::move(candidates)}});
  }
  json[checksum] = hash_of(json);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

TuningRecord decode_record(std::span<const std::byte> file) {
  try {
    const auto* text = reinterpret_cast<const char*>(file.data());
    Json json = Json::parse(text, text + file.size());
    if (!json.is_object()) refuse("not a record");
    const Json stored = json.value(checksum, Json());
    json.erase(checksum);
    if (stored != hash_of(json)) refuse("the checksum differs");
    if (json.at("tuning") != tuning_format)
      refuse(fmt::format("format {} instead of {}", json.at("tuning").dump(), tuning_format));
    return read(json);
  } catch (const nlohmann::json::exception& error) {
    refuse(error.what());
  }
}

std::string grid_class(const std::vector<std::string>& axes, const std::vector<std::int64_t>& totals) {
  std::string text;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const auto points = static_cast<std::uint64_t>(totals.at(a));
    text += fmt::format("{}{} {}", a == 0 ? "" : ", ", axes[a], std::bit_floor(points));
  }
  return text;
}

}  // namespace ondula::jit
