#include <catena/autograd/random_state.h>

#include <algorithm>

namespace autograd {
namespace {

std::vector<RandomExtension::State> states_of_library() {
  const RandomExtension* const others = find_random_extension();
  return others == nullptr ? std::vector<RandomExtension::State>() : others->states();
}

bool is_among(const RandomExtension::State& s, const std::vector<RandomExtension::State>& list) {
  return std::any_of(list.begin(), list.end(), [&](const RandomExtension::State& t) {
    return t.device == s.device && t.seed == s.seed && t.offset == s.offset &&
           t.unrepeatable_draws == s.unrepeatable_draws;
  });
}

const RandomExtension::State* state_of(Device device, const std::vector<RandomExtension::State>& list) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& s) { return s.device == device; });
  return found == list.end() ? nullptr : &*found;
}

[[noreturn]] void fail_unrepeatable(std::string_view op, Device device) {
  catena::fail<catena::RuntimeError>(
      op, "numbers were drawn from the generator of cuRAND on ", device,
      ", whose place in its sequence cannot be set again: give the device a generator "
      "of the library, as nd::random::get_random_state() = nd::random::RandomState(seed)");
}

}  // namespace

RandomState::RandomState() : generator_(default_generator()), others_(states_of_library()) {}

void RandomState::check_repeatable(std::string_view op) const {
  const std::vector<RandomExtension::State> now = states_of_library();
  for (const RandomExtension::State& s : others_) {
    const RandomExtension::State* const t = state_of(s.device, now);
    if (t != nullptr && t->unrepeatable_draws != s.unrepeatable_draws) fail_unrepeatable(op, s.device);
  }
}

void RandomState::restore() const {
  check_repeatable("random numbers");
  restore_what_can_be();
}

void RandomState::restore_what_can_be() const {
  default_generator() = generator_;
  // Restores only generators that have changed, because the library's generators are shared by all threads.
  const std::vector<RandomExtension::State> now = states_of_library();
  std::vector<RandomExtension::State> changed;
  for (const RandomExtension::State& s : others_) {
    const RandomExtension::State* const t = state_of(s.device, now);
    const bool repeatable = s.unrepeatable_draws == 0 && (t == nullptr || t->unrepeatable_draws == 0);
    if (repeatable && !is_among(s, now)) changed.push_back(s);
  }
  if (!changed.empty()) find_random_extension()->restore(changed);
}

void RandomState::keep_what_changed() {
  const std::vector<RandomExtension::State> now = states_of_library();
  std::vector<RandomExtension::State> changed;
  for (const RandomExtension::State& s : others_)
    if (!is_among(s, now)) changed.push_back(s);
  for (const RandomExtension::State& s : now)
    if ((s.offset != 0 || s.unrepeatable_draws != 0) && !has_generator_of(s.device))
      changed.push_back({s.device, s.seed, 0});
  others_ = std::move(changed);
}

bool RandomState::has_generator_of(Device device) const noexcept {
  return std::any_of(others_.begin(), others_.end(),
                     [&](const RandomExtension::State& s) { return s.device == device; });
}

RandomState RandomState::now() const {
  RandomState state;
  std::erase_if(state.others_, [&](const RandomExtension::State& s) { return !has_generator_of(s.device); });
  return state;
}

bool RandomState::has_changed() const noexcept {
  const Generator& now = default_generator();
  return now.seed != generator_.seed || now.offset != generator_.offset;
}

// Applies the finaliser of splitmix64 (Steele, Lea and Flood 2014) twice, so that neighbouring numbers give unrelated
// results.
std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t number) noexcept {
  const auto mixed = [](std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  };
  return mixed(mixed(seed) + number);
}

RandomScope::RandomScope(std::uint64_t seed) : before_(default_generator()) {
  // The array library gets another seed than the framework, so that their numbers differ.
  if (RandomExtension* const others = find_random_extension()) others_ = others->scope(derived_seed(seed, 1));
  default_generator() = {derived_seed(seed, 0), 0};
}

void RandomScope::begin(std::uint64_t seed) {
  if (others_) others_->begin(derived_seed(seed, 1));
  default_generator() = {derived_seed(seed, 0), 0};
}

RandomScope::~RandomScope() { default_generator() = before_; }

}  // namespace autograd
