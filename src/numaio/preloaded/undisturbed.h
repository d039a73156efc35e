// Neither a handler runs nor is the thread cancelled while one of these is there: a handler may
// leave by longjmp(3), and others are moving bytes of a buffer that this thread's frames own.
//
// The signals by which a user ends or stops a program get through where no handler was ever set
// for them: nothing of the program's runs then.
#pragma once

#include <pthread.h>
#include <signal.h>

#include <initializer_list>

#include "numaio/preloaded/handlers.h"

namespace haichi::numaio::preloaded {

class Undisturbed {
 public:
  Undisturbed() {
    sigset_t held;
    sigfillset(&held);
    for (const int number : {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGTSTP})
      if (!may_be_handled(number)) sigdelset(&held, number);
    pthread_sigmask(SIG_BLOCK, &held, &before_);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable_);
  }
  ~Undisturbed() {
    pthread_setcancelstate(cancellable_, nullptr);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  Undisturbed(const Undisturbed&) = delete;
  Undisturbed& operator=(const Undisturbed&) = delete;

 private:
  sigset_t before_;
  int cancellable_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace haichi::numaio::preloaded
