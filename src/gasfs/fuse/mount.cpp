#include "gasfs/fuse/mount.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/log.h"
#include "gasfs/fuse/kernel_words.h"

namespace haichi::gasfs::fuse {
namespace {

// Ends a thread's wait for a request. No program's handler is in the way: a mount lives in haichi's
// own process.
int wake_signal() { return SIGRTMIN + 7; }

void on_init(void*, fuse_conn_info* connection) {
  // Each for its reason; "writeback" loses bytes, the others are the kernel's to do.
  connection->want &= ~unsigned(FUSE_CAP_WRITEBACK_CACHE);
  connection->want &= ~unsigned(FUSE_CAP_HANDLE_KILLPRIV);  // the second version is accepted
  connection->want &= ~unsigned(FUSE_CAP_ATOMIC_O_TRUNC);  // so that truncating takes such bits off
  connection->want &= ~unsigned(FUSE_CAP_SPLICE_READ | FUSE_CAP_SPLICE_WRITE);
}

fuse_lowlevel_ops all_operations() {
  fuse_lowlevel_ops operations{};
  operations.init = on_init;
  add_name_requests(operations);
  add_attribute_requests(operations);
  add_file_requests(operations);
  return operations;
}

}  // namespace

struct Mount::Parts {
  Parts(std::string folder, NodeFiles& files, Beside* beside)
      : where(std::move(folder)), face{files, beside} {}

  void answer() {
    fuse_buf buffer{};
    while (!ending.load(std::memory_order_acquire)) {
      const int size = fuse_session_receive_buf(session, &buffer);
      if (size == -EINTR || size == -EAGAIN) continue;
      if (size <= 0) break;  // unmounted
      fuse_session_process_buf(session, &buffer);
    }
    free(buffer.mem);
    running.fetch_sub(1);
  }

  std::string where;
  Face face;
  fuse_lowlevel_ops operations = all_operations();
  fuse_session* session = nullptr;
  std::atomic<bool> ending{false};
  std::atomic<int> running{0};
  std::vector<std::thread> threads;
};

Mount::Mount(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

Result<std::unique_ptr<Mount>> Mount::make(const std::string& where, NodeFiles& files,
                                           Beside* beside, int threads) {
  if (access("/dev/fuse", R_OK | W_OK) != 0) {
    return fail(errno,
                "no mount on {}: /dev/fuse can't be used ({}): load the kernel's module "
                "fuse, or let this user or container have it",
                where, strerror(errno));
  }
  auto parts = std::make_unique<Parts>(where, files, beside);
  std::string options = "fsname=haichi-gasfs,subtype=haichi,default_permissions";
  if (geteuid() == 0) options += ",allow_other";
  const char* words[] = {"haichi-gasfs", "-o", options.c_str()};
  fuse_args arguments{3, const_cast<char**>(words), 0};
  parts->session =
      fuse_session_new(&arguments, &parts->operations, sizeof parts->operations, &parts->face);
  fuse_opt_free_args(&arguments);
  if (!parts->session) return fail(EINVAL, "libfuse made no session for {}", where);
  if (fuse_session_mount(parts->session, where.c_str()) != 0) {
    const int code = errno;
    fuse_session_destroy(parts->session);
    return fail(code, "can't mount on {}: {}", where, strerror(code));
  }
  const int fd = fuse_session_fd(parts->session);
  if (const int failed = fuse_session_custom_io(parts->session, &watched_io(), fd); failed) {
    fuse_session_unmount(parts->session);
    fuse_session_destroy(parts->session);
    return fail(-failed, "libfuse takes no transport of ours for {}", where);
  }
  struct sigaction nothing{};
  nothing.sa_handler = [](int) {};
  sigaction(wake_signal(), &nothing, nullptr);
  std::unique_ptr<Mount> mount(new Mount(std::move(parts)));
  Parts& is = *mount->parts_;
  is.running = threads;
  for (int i = 0; i < threads; ++i) is.threads.emplace_back([&is] { is.answer(); });
  return mount;
}

bool Mount::ended() const { return parts_->running == 0; }

Mount::~Mount() {
  Parts& is = *parts_;
  // While threads still answer: unmounting looks the folder up. What is open keeps a detached mount
  // alive until the descriptor of the session is closed below.
  if (!ended() && umount2(is.where.c_str(), UMOUNT_NOFOLLOW) != 0 &&
      umount2(is.where.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) != 0) {
    fuse_session_unmount(is.session);  // not root: fusermount3
  }
  is.ending = true;
  fuse_session_exit(is.session);
  while (is.running != 0) {
    for (auto& thread : is.threads) pthread_kill(thread.native_handle(), wake_signal());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  for (auto& thread : is.threads) thread.join();
  fuse_session_destroy(is.session);
}

}  // namespace haichi::gasfs::fuse
