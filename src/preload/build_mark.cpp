// The symbol that tells of which build this preload object is; see cmake/BuildMark.cmake.
#include "generated/build_mark.h"

extern "C" {
__attribute__((visibility("default"), used)) extern const char HAICHI_BUILD_MARK;
const char HAICHI_BUILD_MARK = 1;
}
