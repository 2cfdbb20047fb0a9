// Saving beside training: a small checkpoint is copied at once and written by a thread of its own, because syncing a
// file takes as long as many steps of a small model. Checkpoints are written one after the other, in the order given.
#ifndef MEKIK_RUNTIME_TRAIN_SAVER_H
#define MEKIK_RUNTIME_TRAIN_SAVER_H

#include "runtime/train/RunState.h"
#include <deque>
#include <pthread.h>
#include <string>
#include <utility>

namespace mekik::train {

class Saver {
public:
  Saver();
  Saver(const Saver &) = delete;
  /// Waits for what is still to be written.
  ~Saver();

  /// Takes the checkpoint; one that is no copy is written before this returns.
  /// Errors: the first failure of any save so far, after which nothing is written any more.
  base::Status save(std::string path, Snapshot snapshot);
  /// Waits until everything is written. The first failure of any save so far.
  base::Status finish();

private:
  static void *threadMain(void *argument);
  void work();

  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  std::deque<std::pair<std::string, Snapshot>> waiting;
  base::Status failure;
  bool writing = false, stopping = false;
  bool running = false; // the thread exists; without it saves are made at once
  pthread_t thread{};
};

} // namespace mekik::train

#endif
