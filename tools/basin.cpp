// `ondula basin`: writes the synthetic basin's models and their pictures.
// SPDX-License-Identifier: MIT
#include "tools/basin.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <system_error>

#include "compiler/error.hpp"
#include "runtime/io/basin.hpp"
#include "runtime/io/npy.hpp"
#include "runtime/io/picture.hpp"
#include "runtime/io/png.hpp"

namespace ondula::tools {

namespace {

/// One of the basin's arrays, and the file names it is written under.
struct Part {
  const char* name;
  const char* unit;
  const io::Array& array;
  std::string model;
  std::string picture;
};

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw UserError(fmt::format("cannot make the directory {}: {}", directory, error.message()));
}

io::BasinOptions basin_options(const BasinCommand& command) {
  io::BasinOptions options{command.shape, command.spacing, command.water_depth, command.seed};
  if (options.spacing.size() == 1) options.spacing.resize(options.shape.size(), options.spacing[0]);
  return options;
}

}  // namespace

CLI::App* add_basin_command(CLI::App& program, BasinCommand& command) {
  CLI::App* basin =
      program.add_subcommand("basin", "write the synthetic basin: vp, vs and rho as .npy, with pictures");
  basin->add_option("--shape", command.shape, "nodes per axis: z,x or z,y,x")
      ->delimiter(',')
      ->capture_default_str();
  basin->add_option("--spacing", command.spacing, "m between nodes: one for all axes, or one per axis")
      ->delimiter(',')
      ->capture_default_str();
  basin->add_option("--water", command.water_depth, "m of water over the deepest sea floor; 0 is land")
      ->capture_default_str();
  basin->add_option("--seed", command.seed, "another seed makes other layers")->capture_default_str();
  basin->add_option("-o,--output", command.directory, "the directory to write to")->capture_default_str();
  basin->add_flag("!--no-pictures", command.pictures, "write no .png");
  return basin;
}

std::vector<std::string> write_basin(const BasinCommand& command, io::Existing existing) {
  const io::Basin basin = io::make_basin(basin_options(command));
  std::vector<Part> parts{
      {"vp", "m/s", basin.vp, {}, {}}, {"vs", "m/s", basin.vs, {}, {}}, {"rho", "kg/m^3", basin.rho, {}, {}}};
  const std::filesystem::path directory(command.directory);
  std::vector<std::string> paths;
  for (Part& part : parts) {
    part.model = (directory / (std::string(part.name) + ".npy")).string();
    part.picture = (directory / (std::string(part.name) + ".png")).string();
    paths.push_back(part.model);
    if (command.pictures) paths.push_back(part.picture);
  }
  for (const std::string& path : paths)
    if (existing == io::Existing::refuse && std::filesystem::exists(path))
      throw UserError(
          fmt::format("{} exists already; use --force to replace it, or name another output", path));
  make_directory(command.directory);
  for (const Part& part : parts) {
    io::write_npy(part.model, part.array, DType::float32, existing);
    if (!command.pictures) continue;
    const io::Placement placement{basin.axes, basin.spacing, std::vector<double>(basin.axes.size(), 0.0)};
    io::write_png(part.picture,
                  io::draw_model({"Synthetic basin", part.name, part.unit, part.array, placement}), existing);
  }
  return paths;
}

}  // namespace ondula::tools
