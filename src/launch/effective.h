// The settings in force: command line over environment over haichi.toml over the site's over
// default.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "launch/config_file.h"
#include "launch/environment.h"

namespace haichi::launch {

/// One row of the settings table with the value in force.
struct Effective {
  const Setting* setting;
  std::string value;
  std::string source;   ///< "default", "environment", "command line", or the place in haichi.toml
  std::string problem;  ///< why the value is refused, with where it stood; empty if it is right
};

struct EffectiveSettings {
  std::vector<Effective> rows;        ///< parallel to kSettings
  std::vector<std::string> warnings;  ///< unknown HAICHI_* variables, ignored files
  std::string file;                   ///< the haichi.toml that was read; empty if none
};

/// `assignments` are the `key=value` words of --set. Fails with EINVAL for an assignment or a
/// haichi.toml that is wrong; wrong values of the environment are the rows' problems. A file of the
/// site (`site`) that is wrong is ignored with a warning: who calls can't put it right.
Result<EffectiveSettings> effective_settings(const Environment& environment,
                                             const std::vector<std::string>& assignments,
                                             const std::string& site = kSiteConfig);

/// Puts what came from haichi.toml and the command line into `environment`, for the shim.
void export_settings(const EffectiveSettings& settings, Environment& environment);

}  // namespace haichi::launch
