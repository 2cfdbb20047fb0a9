#include "runtime/train/Saver.h"

namespace mekik::train {
namespace {

class Locked {
public:
  explicit Locked(pthread_mutex_t &mutex) : mutex(mutex) { pthread_mutex_lock(&mutex); }
  ~Locked() { pthread_mutex_unlock(&mutex); }

private:
  pthread_mutex_t &mutex;
};

} // namespace

Saver::Saver() { running = pthread_create(&thread, nullptr, threadMain, this) == 0; }

Saver::~Saver() {
  if (!running)
    return;
  {
    Locked lock(mutex);
    stopping = true;
    pthread_cond_broadcast(&changed);
  }
  pthread_join(thread, nullptr);
}

void *Saver::threadMain(void *argument) {
  static_cast<Saver *>(argument)->work();
  return nullptr;
}

void Saver::work() {
  pthread_mutex_lock(&mutex);
  while (true) {
    while (waiting.empty() && !stopping)
      pthread_cond_wait(&changed, &mutex);
    if (waiting.empty())
      break;
    auto [path, snapshot] = std::move(waiting.front());
    waiting.pop_front();
    if (failure.ok()) {
      writing = true;
      pthread_mutex_unlock(&mutex);
      base::Status status = writeSnapshot(path, snapshot);
      pthread_mutex_lock(&mutex);
      writing = false;
      if (failure.ok())
        failure = status;
    }
    pthread_cond_broadcast(&changed);
  }
  pthread_mutex_unlock(&mutex);
}

base::Status Saver::save(std::string path, Snapshot snapshot) {
  bool borrowed = !snapshot.isCopy();
  if (!running) {
    if (failure.ok())
      failure = writeSnapshot(path, snapshot);
    return failure;
  }
  {
    Locked lock(mutex);
    // One checkpoint may wait while another is written; more would let a slow disk fill the memory.
    while (waiting.size() > 1 && failure.ok())
      pthread_cond_wait(&changed, &mutex);
    if (!failure.ok())
      return failure;
    waiting.emplace_back(std::move(path), std::move(snapshot));
    pthread_cond_broadcast(&changed);
  }
  return borrowed ? finish() : base::Status();
}

base::Status Saver::finish() {
  Locked lock(mutex);
  while (running && (!waiting.empty() || writing))
    pthread_cond_wait(&changed, &mutex);
  return failure;
}

} // namespace mekik::train
