#include <catena/autograd/flag.h>

#include <cstdlib>
#include <ostream>

#include <catena/autograd/debug.h>

namespace autograd {
namespace {

// Reads a switch as Chainer does: unset means the default, "0" means off, any other value on.
bool environment(const char* name, bool otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr || *text == 0 ? otherwise : std::string_view(text) != "0";
}

}  // namespace

Flag::Flag(std::string_view text) {
  if (text == "on" || text == "ON") v_ = kOn;
  else if (text == "off" || text == "OFF") v_ = kOff;
  else if (text == "auto" || text == "AUTO") v_ = kAuto;
  else catena::fail<catena::ValueError>("Flag", "'", text, "' is not one of on, off, auto");
}

Flag::operator bool() const {
  catena::check<catena::ValueError>(v_ != kAuto, "Flag", "AUTO is neither true nor false");
  return v_ == kOn;
}

std::ostream& operator<<(std::ostream& out, Flag f) {
  return out << (f.value() == Flag::kOn ? "ON" : f.value() == Flag::kOff ? "OFF" : "AUTO");
}

Flag aggregate_flags(std::span<const Flag> flags) {
  bool on = false, off = false;
  for (const Flag f : flags) {
    on |= f == ON;
    off |= f == OFF;
  }
  catena::check<catena::ValueError>(!(on && off), "aggregate_flags",
                                    "ON and OFF flags cannot be mixed: an input is volatile and another is not");
  return on ? ON : off ? OFF : AUTO;
}

namespace internal {

catena::Atomic<bool> debug_flag{environment("CHAINER_DEBUG", false)};
catena::Atomic<bool> type_checks_disabled{!environment("CHAINER_TYPE_CHECK", true)};

Modes& modes() noexcept {
  static constinit thread_local Modes m;
  return m;
}

static constinit catena::Atomic<int> testing_scopes{0};  // number of scopes in all threads

TrainChoice::TrainChoice(std::optional<bool> train) noexcept : is_off_(train == false) {
  if (train) modes().train_is_chosen = true;
  if (is_off_) testing_scopes.fetch_add(1, catena::MemoryOrder::relaxed);
}
TrainChoice::~TrainChoice() {
  if (is_off_) testing_scopes.fetch_sub(1, catena::MemoryOrder::relaxed);
}

bool trains(std::string_view op) {
  const Modes& m = modes();
  if (!m.train.now) return false;
  // A thread that runs a trainer is not warned: it trains on purpose while another thread evaluates.
  if (!m.train_is_chosen && testing_scopes.load(catena::MemoryOrder::relaxed) > 0 && !OwnLossWarning::is_active())
    warn("UserWarning",
         catena::concat(op,
                        ": the mode train is on in this thread, while another thread has turned it off: modes belong "
                        "to a thread. Open the scope train_mode(false) in this thread, too, or train_mode(true) if it "
                        "is to train"));
  return true;
}

void set_mode_of_functions(bool train) noexcept {
  Modes& m = modes();
  m.train.now = m.train.config && train;
  m.train_is_chosen = true;
}

}  // namespace internal
}  // namespace autograd
