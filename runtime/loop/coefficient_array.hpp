// A coefficient's whole array, computed on the host.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <span>

#include "compiler/ir/domain.hpp"
#include "compiler/ir/evaluate.hpp"
#include "compiler/ir/program.hpp"
#include "runtime/loop/model.hpp"

namespace ondula::loop {

/// Computes `coefficient` in double for every row of the padded domain and `halo` cells around it, and hands
/// each to `put`(index of its first value, values). Rows go over `each`(count, body(begin, end)), which may
/// run bodies at once.
void coefficient_rows(
    const ir::Coefficient& coefficient, const ir::Domain& domain, const ir::Symbols& symbols,
    const PaddedModel& model, int halo,
    const std::function<void(std::int64_t, const std::function<void(std::int64_t, std::int64_t)>&)>& each,
    const std::function<void(const ir::Extents&, std::span<const double>)>& put);

}  // namespace ondula::loop
