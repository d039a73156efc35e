#include "base/trust.h"

namespace haichi {

std::string distrusted(const struct stat& folder, const struct stat& entry, const struct stat& file,
                       uid_t owner) {
  constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;
  if (!S_ISREG(file.st_mode)) return "it is not a regular file";
  if (entry.st_uid != owner || file.st_uid != owner) return "it belongs to another user";
  if (file.st_mode & kOthersWrite) return "others may write it (chmod go-w helps)";
  if (owner == 0 && folder.st_uid != 0) return "root obeys none in a folder of another user";
  if (owner == 0 && (folder.st_mode & kOthersWrite) && !(folder.st_mode & S_ISVTX))
    return "root obeys none in a folder that others may write";
  return "";
}

}  // namespace haichi
