#include "base/version.h"

namespace haichi {

const char* const kVersion = HAICHI_VERSION;

}  // namespace haichi
