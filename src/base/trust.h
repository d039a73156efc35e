// Whose files haichi obeys that nobody named to it.
#pragma once

#include <sys/stat.h>

#include <string>

namespace haichi {

/// Why a file that was only come across may not be obeyed, with what to do; empty if it may.
/// `owner` is the user whose it must be: who calls, or root for what is the site's. `entry` is what
/// stands in the folder, perhaps a link, `file` what was opened.
std::string distrusted(const struct stat& folder, const struct stat& entry, const struct stat& file,
                       uid_t owner);

}  // namespace haichi
