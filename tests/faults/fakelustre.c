/* fakelustre: a stand-in for liblustreapi.so.1 and, as a preload, for a Lustre file system.
 *
 *   FAKE_LUSTRE=SUFFIX   files whose name ends so are on Lustre
 *   FAKE_STRIPES=N FAKE_UNIT=BYTES   what their last component has
 * The first component of each layout has one stripe of 4096 bytes, which nobody shall take.
 * Build: cc -O2 -fPIC -shared -Wl,-soname,liblustreapi.so.1 -o liblustreapi.so.1 fakelustre.c -ldl
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

static int on_lustre(int fd) {
  const char* suffix = getenv("FAKE_LUSTRE");
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = suffix ? readlink(link, name, sizeof name - 1) : -1;
  if (n < 0 || (size_t)n < strlen(suffix)) return 0;
  name[n] = 0;
  return strcmp(name + n - strlen(suffix), suffix) == 0;
}

int fstatfs(int fd, struct statfs* out) {
  const int done = ((int (*)(int, struct statfs*))dlsym(RTLD_NEXT, "fstatfs"))(fd, out);
  if (done == 0 && on_lustre(fd)) out->f_type = 0x0BD00BD0;
  return done;
}

struct layout {
  int last;
};

void* llapi_layout_get_by_fd(int fd, uint32_t flags) {
  (void)flags;
  return on_lustre(fd) ? calloc(1, sizeof(struct layout)) : NULL;
}
void llapi_layout_free(void* layout) { free(layout); }
int llapi_layout_comp_use(void* layout, uint32_t which) {
  ((struct layout*)layout)->last = which == 2;
  return 0;
}
int llapi_layout_stripe_count_get(const void* layout, uint64_t* count) {
  *count = ((const struct layout*)layout)->last ? strtoull(getenv("FAKE_STRIPES"), NULL, 10) : 1;
  return 0;
}
int llapi_layout_stripe_size_get(const void* layout, uint64_t* size) {
  *size = ((const struct layout*)layout)->last ? strtoull(getenv("FAKE_UNIT"), NULL, 10) : 4096;
  return 0;
}
