// The job's keys of gradients and linearised modelling: observed, misfit, gradient, born.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>

#include "runtime/io/job_sections.hpp"

namespace ondula::io {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 3> misfit_words = {"l2", "correlation", "envelope"};

MisfitKind parse_kind(const Node& node) {
  const std::string word = node.choice({misfit_words.begin(), misfit_words.end()});
  const auto at = std::find(misfit_words.begin(), misfit_words.end(), word) - misfit_words.begin();
  return static_cast<MisfitKind>(at);
}

Mute parse_mute(const Node& node) {
  node.only({"before", "after", "velocity", "taper"});
  Mute mute;
  if (const auto before = node.find("before")) mute.before = before->number(any_number("s"));
  if (const auto after = node.find("after")) {
    Range later = any_number("s");
    if (mute.before) {
      later.low = *mute.before;
      later.low_open = true;
    }
    mute.after = after->number(later);
  }
  if (const auto velocity = node.find("velocity")) mute.velocity = velocity->number(positive_number("m/s"));
  if (const auto taper = node.find("taper")) mute.taper = taper->number(nonnegative_number("s"));
  if (!mute.before && !mute.after && !mute.velocity)
    node.fail("an object with at least one of \"before\", \"after\" (s) and \"velocity\" (m/s)");
  return mute;
}

MisfitOptions parse_misfit(const Node& node, double dt) {
  MisfitOptions misfit;
  if (node.value().is_string()) {
    misfit.kind = parse_kind(node);
    return misfit;
  }
  if (!node.value().is_object())
    node.fail(R"("l2", "correlation", "envelope", or an object with "kind", "mute", "band")");
  node.only({"kind", "mute", "band"});
  if (const auto kind = node.find("kind")) misfit.kind = parse_kind(*kind);
  if (const auto mute = node.find("mute")) misfit.mute = parse_mute(*mute);
  if (const auto band = node.find("band")) {
    misfit.band = parse_band(*band);
    Range below = positive_number("Hz, below half the sampling rate");
    below.high = 0.5 / dt;
    below.high_open = true;
    static_cast<void>(band->items()[1].number(below));
  }
  return misfit;
}

GradientOptions parse_gradient(const Node& node) {
  node.only({"parameters", "wavelet", "initial", "extent"});
  GradientOptions gradient;
  if (const auto parameters = node.find("parameters"); parameters && parameters->value() != "all") {
    gradient.parameters = parse_names(*parameters, "parameter names, or \"all\"");
    if (gradient.parameters.empty()) parameters->fail("\"all\", or a list of at least one parameter");
  }
  if (const auto wavelet = node.find("wavelet")) gradient.wavelets = wavelet->boolean();
  if (const auto initial = node.find("initial")) gradient.initial = initial->boolean();
  if (const auto extent = node.find("extent")) {
    const bool interior = extent->choice({"model", "interior"}) == "interior";
    gradient.extent = interior ? Extent::interior : Extent::model;
  }
  return gradient;
}

Json write_misfit(const MisfitOptions& misfit) {
  Json json{{"kind", misfit_words[static_cast<std::size_t>(misfit.kind)]}};
  if (misfit.mute) {
    Json mute = Json::object();
    if (misfit.mute->before) mute["before"] = *misfit.mute->before;
    if (misfit.mute->after) mute["after"] = *misfit.mute->after;
    if (misfit.mute->velocity) mute["velocity"] = *misfit.mute->velocity;
    mute["taper"] = misfit.mute->taper;
    json["mute"] = mute;
  }
  if (misfit.band) json["band"] = *misfit.band;
  return json;
}

}  // namespace

std::array<double, 2> parse_band(const Node& node) {
  if (!node.value().is_array() || node.value().size() != 2) node.fail("[low, high], in Hz");
  const auto items = node.items();
  const double low = items[0].number(nonnegative_number("Hz"));
  Range above = positive_number("Hz");
  above.low = low;
  return {low, items[1].number(above)};
}

std::vector<std::string> parse_names(const Node& node, const std::string& what) {
  if (!node.value().is_array()) node.fail("a list of " + what);
  std::vector<std::string> names;
  for (const Node& item : node.items()) names.push_back(item.text());
  return names;
}

void parse_inverse(const Node& root, Job& job, ParseContext& context) {
  if (const auto observed = root.find("observed")) {
    for (const auto& [field, file] : observed->members())
      job.observed.emplace_back(field, context.path(file));
  }
  if (const auto misfit = root.find("misfit")) job.misfit = parse_misfit(*misfit, job.dt);
  if (const auto gradient = root.find("gradient")) job.gradient = parse_gradient(*gradient);
  if (storage_plan(job.memory).keep == Storage::boundary) {
    if (job.gradient.extent == Extent::model) {
      root.find("gradient")
          ->find("extent")
          ->refuse(
              "found \"model\" with boundary saving (memory), which rebuilds the interior alone and knows "
              "nothing "
              "of what lies under the layers; allowed: \"interior\"");
    }
    job.gradient.extent = Extent::interior;
  }
  if (const auto born = root.find("born")) {
    for (const auto& [name, perturbation] : born->members())
      job.born.emplace_back(name, parse_model(perturbation, job.grid, context));
  }
}

void write_inverse(const Job& job, Json& json) {
  json["observed"] = Json::object();
  for (const auto& [field, file] : job.observed) json["observed"][field] = file;
  json["misfit"] = write_misfit(job.misfit);
  const auto& parameters = job.gradient.parameters;
  json["gradient"] = Json{{"parameters", parameters.empty() ? Json("all") : Json(parameters)},
                          {"wavelet", job.gradient.wavelets},
                          {"initial", job.gradient.initial},
                          {"extent", job.gradient.extent == Extent::interior ? "interior" : "model"}};
  json["born"] = Json::object();
  for (const auto& [name, spec] : job.born) json["born"][name] = write_model(spec);
}

}  // namespace ondula::io
