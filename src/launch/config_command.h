// The forms in which `haichi config` shows the settings table.
#pragma once

#include <string>

#include "launch/effective.h"

namespace haichi::launch {

/// Aligned columns: key, value, where it came from.
std::string config_as_table(const EffectiveSettings& settings);

/// {"schema": "haichi.settings/1", "file": path or null, "settings": [{key, variable, hint, kind,
/// choices, default, help, value, source, problem}, ...], "warnings": [...]}; hint and problem are
/// null where there is none.
std::string config_as_json(const EffectiveSettings& settings);

/// A haichi.toml that sets what differs from the defaults and shows the rest in comments.
std::string config_as_toml(const EffectiveSettings& settings);

/// What the files say, as lines NAME=VALUE, for those who preload a shim without `haichi run`. A
/// value of several lines is left out.
std::string config_as_environment(const EffectiveSettings& settings);

/// The manual haichi-environment(7) in Markdown: the table alone, no effective values.
std::string config_as_manual();

}  // namespace haichi::launch
