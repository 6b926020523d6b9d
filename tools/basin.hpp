// `ondula basin`: writes the synthetic basin's models and their pictures.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/io/atomic_file.hpp"

namespace CLI {
class App;
}

namespace ondula::tools {

/// What `ondula basin` was asked for.
struct BasinCommand {
  std::vector<std::int64_t> shape{150, 400};  ///< z, x or z, y, x
  std::vector<double> spacing{20.0};          ///< m, one for all axes or one per axis
  double water_depth = 0.0;                   ///< m
  std::uint32_t seed = 1;
  std::string directory = "basin";
  bool pictures = true;
};

/// Adds the subcommand's description and options, which fill `command`; returns the subcommand. `-o`,
/// `--force` and the like are the program's own where it has them; here `-o` is set for the subcommand.
CLI::App* add_basin_command(CLI::App& program, BasinCommand& command);

/// Writes vp.npy, vs.npy and rho.npy (float32) and, where wanted, a .png of each, and returns their paths.
/// The directory is made where missing. Throws UserError for options out of range, and before anything is
/// written where a file exists and may not be replaced.
std::vector<std::string> write_basin(const BasinCommand& command, io::Existing existing);

}  // namespace ondula::tools
