#include <catena/training/extensions/stop_on_signal.h>

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

#include <catena/kernels/base/error.h>
#include <catena/kernels/base/warning.h>

namespace training {

namespace {

// Written by the handler: the last signal of this run of trainers, or 0.
std::atomic<int> last_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

void note_signal(int signal) { last_signal.store(signal); }

// The signals that trainers of this process wait for: how many trainers, and the disposition before.
class Listeners {
 public:
  void add(const std::vector<int>& signals) {
    const std::lock_guard lock(mutex_);
    if (handled_.empty()) last_signal.store(0);
    for (std::size_t i = 0; i < signals.size(); ++i) try {
        add_one(signals[i]);
      } catch (...) {
        for (std::size_t k = 0; k < i; ++k) remove_one(signals[k]);
        throw;
      }
  }
  void remove(const std::vector<int>& signals) {
    const std::lock_guard lock(mutex_);
    for (const int signal : signals) remove_one(signal);
  }

 private:
  struct Handled {
    int trainers = 0;
    bool ignored = false;
    struct sigaction before {};
  };

  void add_one(int signal) {
    Handled& one = handled_[signal];
    if (one.trainers++ > 0) return;
    struct sigaction ours {};
    ours.sa_handler = note_signal;
    ours.sa_flags = SA_RESTART | static_cast<int>(SA_RESETHAND);  // so that a second signal ends the process
    sigemptyset(&ours.sa_mask);
    const bool known = ::sigaction(signal, nullptr, &one.before) == 0;
    one.ignored = known && (one.before.sa_flags & SA_SIGINFO) == 0 && one.before.sa_handler == SIG_IGN;
    if (known && (one.ignored || ::sigaction(signal, &ours, nullptr) == 0)) return;
    handled_.erase(signal);
    catena::fail<catena::RuntimeError>("StopOnSignal", "the signal ", signal, " cannot be handled");
  }

  void remove_one(int signal) {
    const auto found = handled_.find(signal);
    if (--found->second.trainers > 0) return;
    if (!found->second.ignored) ::sigaction(signal, &found->second.before, nullptr);
    handled_.erase(found);
  }

  std::mutex mutex_;
  std::map<int, Handled> handled_;
};

Listeners& listeners() {
  static Listeners& all = *new Listeners;  // never destroyed: trainers may be static variables
  return all;
}

}  // namespace

StopOnSignal::StopOnSignal(Options options) : options_(std::move(options)) {
  if (options_.signals.empty()) options_.signals = {SIGTERM, SIGINT};
}

void StopOnSignal::initialize(Trainer& trainer) {
  const std::vector<std::string> names = trainer.extension_names();
  const bool saves = std::any_of(names.begin(), names.end(),
                                 [&](const std::string& name) { return trainer.get_extension(name).saves_trainer; });
  if (!saves)
    catena::warn("UserWarning",
                 "StopOnSignal: no extension saves the trainer, so a training that is stopped by a signal "
                 "cannot go on later (add the extension Snapshot)");
  listeners().add(options_.signals);
  listens_ = true;
}

void StopOnSignal::operator()(Trainer& trainer) {
  note_received();
  if (received_) trainer.stop();
}

void StopOnSignal::finalize() {
  if (!std::exchange(listens_, false)) return;
  note_received();  // a signal that came after the last call
  listeners().remove(options_.signals);
}

void StopOnSignal::note_received() {
  if (const int signal = last_signal.load(); signal != 0) received_ = signal;
}

}  // namespace training
