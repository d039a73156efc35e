// haichi.toml: settings that a site, a user or a project keeps in a file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "launch/environment.h"

namespace haichi::launch {

/// One setting of a file, its value in the notation of the environment variable.
struct FileSetting {
  const Setting* setting;
  std::string value;
  std::string place;  ///< "haichi.toml:3"
};

/// A file of settings that is to be obeyed.
struct ConfigFile {
  std::string path;
  std::string text;
};

struct FoundConfig {
  std::optional<ConfigFile> site;  ///< what holds where `file` says nothing
  std::optional<ConfigFile> file;
  std::vector<std::string> ignored;  ///< one line for each that must not be obeyed, with the reason
};

constexpr const char* kSiteConfig = "/etc/haichi.toml";

/// The files to read: the site's, if it is root's, and one of the caller's: HAICHI_CONFIG, else
/// ./haichi.toml, else haichi/haichi.toml in XDG_CONFIG_HOME or ~/.config. Of the latter only the
/// first is read; neither is, if HAICHI_CONFIG is empty. What HAICHI_CONFIG does not name is obeyed
/// only if distrusted() (base/trust.h) has no objection: whoever calls haichi in a folder of
/// somebody else has not asked for that one's settings. EINVAL for a file of the caller's that
/// can't be read.
Result<FoundConfig> find_config(const Environment& environment,
                                const std::string& site = kSiteConfig);

/// Reads a TOML text. A key is a row of the settings table, written `io.order = "rank"` or as
/// `order` in a table `[io]`; values are strings, whole numbers or booleans. Fails with EINVAL for
/// the first thing that is wrong: syntax, an unknown key or a wrong value; the text begins with
/// `name:line:`.
Result<std::vector<FileSetting>> parse_config(std::string_view text, const std::string& name);

/// The row of the settings table with this variable, or null.
const Setting* setting_by_variable(std::string_view variable);

/// The row whose key or variable is a slip or two away, to say "did you mean"; null if none is.
const Setting* setting_near(std::string_view key_or_variable);

}  // namespace haichi::launch
