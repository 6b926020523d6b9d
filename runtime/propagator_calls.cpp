// The public calls of a Propagator: what surrounds each one, floating-point state and exceptions.
// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include <new>
#include <stdexcept>

#include "compiler/error.hpp"
#include "runtime/jit/host_compiler.hpp"
#include "runtime/propagator_impl.hpp"
#include "runtime/state_data.hpp"

namespace ondula {

void Propagator::Impl::rethrow() const {
  if (foreign_) throw;
  try {
    throw;
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw RuntimeError(
        "the host has no memory left for what this call needs: ask for a smaller grid, fewer "
        "receivers or float32");
  } catch (const std::length_error& error) {
    throw RuntimeError(
        fmt::format("an array of this call would be larger than any memory ({})", error.what()));
  } catch (const std::exception& error) {
    throw InternalError(fmt::format("unexpected: {}", error.what()));
  }
}

const Propagator::Impl& Propagator::impl() const {
  if (!impl_) throw UserError("this Propagator was moved from: it holds nothing to call");
  return *impl_;
}

Propagator::Impl& Propagator::impl() {
  static_cast<void>(std::as_const(*this).impl());
  return *impl_;
}

std::shared_ptr<jit::HostCompiler> make_compiler(const jit::CacheOptions& cache, jit::Log log) {
  return std::make_shared<jit::HostCompiler>(cache, std::move(log));
}

Propagator::Propagator(const EquationDefinition& equation, const Grid& grid, const PropagatorOptions& options)
    : impl_(std::make_unique<Impl>(equation, options)) {
  impl_->call([&] { impl_->open(grid); });
}
Propagator::~Propagator() = default;
Propagator::Propagator(Propagator&&) noexcept = default;
Propagator& Propagator::operator=(Propagator&&) noexcept = default;

void Propagator::compile() {
  impl().call([&] { impl_->compile(); });
}
void Propagator::set_model(const std::string& name, std::span<const double> values) {
  impl().call([&] { impl_->set_model(name, values); });
}
void Propagator::set_model(const std::string& name, double value) {
  impl().call([&] { impl_->set_model(name, value); });
}
void Propagator::set_initial(const std::string& name, std::span<const double> values) {
  impl().call([&] { impl_->set_initial(name, values); });
}
void Propagator::set_model(const std::string& name, const ConstArrayView& values) {
  impl().call([&] { impl_->set_model(name, impl_->read_nodes("model " + name, values)); });
}
void Propagator::set_initial(const std::string& name, const ConstArrayView& values) {
  impl().call([&] { impl_->set_initial(name, impl_->read_nodes("initial " + name, values)); });
}
std::vector<double> Propagator::read(const ConstArrayView& from) {
  return impl().call([&] { return impl_->read("an array to read", from); });
}
void Propagator::write(std::span<const double> values, const ArrayView& to) {
  impl().call([&] { impl_->write("an array to write", values, to); });
}
State Propagator::state() const {
  return impl().call([&] { return State(impl_->state()); });
}
void Propagator::set_state(const State& state) {
  impl().call([&] { impl_->set_state(state.data_); });
}
Records Propagator::forward(std::span<const Shot> shots) {
  return impl().call([&] { return impl_->forward(shots, std::nullopt); });
}
Records Propagator::forward(std::span<const Shot> shots, std::int64_t steps) {
  return impl().call([&] { return impl_->forward(shots, steps); });
}
Gradient Propagator::gradient(std::span<const Shot> shots, const MisfitFunction& misfit,
                              const GradientOptions& options) {
  return impl().call([&] { return impl_->gradient(shots, impl_->misfit_outside(misfit), options); });
}
Gradient Propagator::gradient(std::span<const Shot> shots, const std::vector<AdjointSources>& adjoint,
                              const GradientOptions& options) {
  return impl().call([&] { return impl_->gradient(shots, adjoint, options); });
}
Records Propagator::born(std::span<const Shot> shots,
                         const std::map<std::string, std::vector<double>>& perturbation) {
  return impl().call([&] { return impl_->born(shots, perturbation); });
}
Gradient Propagator::gauss_newton(std::span<const Shot> shots,
                                  const std::map<std::string, std::vector<double>>& perturbation,
                                  const GradientOptions& options) {
  return impl().call([&] { return impl_->gauss_newton(shots, perturbation, options); });
}
void Propagator::on_step(std::int64_t every, std::function<void(const StepView&)> callback) {
  impl().call([&] { impl_->on_step(every, std::move(callback)); });
}
Estimate Propagator::estimate(std::span<const Shot> shots) const {
  return impl().call([&] { return impl_->estimate(shots); });
}

std::size_t Propagator::limit_bytes() const {
  return impl().call([&] { return impl_->limit_bytes(); });
}
const Timings& Propagator::timings() const { return impl().timings(); }

std::vector<LaunchShape> Propagator::launch_shapes() const { return impl().launch_shapes(); }
TierBytes Propagator::bytes_peak() const { return impl().bytes_peak(); }
std::size_t Propagator::device_bytes_peak() const { return impl().device_bytes_peak(); }
double Propagator::time_offset(const std::string& field) const {
  return impl().call([&] { return impl_->time_offset(field); });
}
const std::vector<std::string>& Propagator::warnings() const { return impl().warnings(); }

}  // namespace ondula
