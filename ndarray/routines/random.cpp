#include <catena/ndarray/routines/random.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include <catena/kernels/base/seed.h>
#include <catena/kernels/random.h>
#include <catena/kernels/registry/bind.h>
#include <catena/kernels/registry/bound_call.h>
#include <catena/ndarray/core/storage.h>
#include <catena/ndarray/device/device.h>
#include <catena/ndarray/device/runtime.h>
#include <catena/ndarray/engine/execute.h>
#include <catena/ndarray/engine/out_of_memory.h>
#include <catena/ndarray/routines/creation.h>
#include <catena/ndarray/routines/curand.h>
#include <catena/ndarray/routines/datatype.h>
#include <catena/ndarray/routines/indexing.h>
#include <catena/ndarray/routines/manipulation.h>
#include <catena/ndarray/routines/math.h>
#include <catena/ndarray/routines/random_curand.h>
#include <catena/ndarray/routines/random_states.h>
#include <catena/ndarray/routines/reduction.h>
#include <catena/ndarray/routines/scan.h>
#include <catena/ndarray/routines/sorting.h>

namespace nd::random {

using catena::check;
using catena::fail;

namespace {

// The finaliser of splitmix64: consecutive numbers give unrelated results.
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

std::uint64_t seed_of(Device device, std::uint64_t seed) {
  return device.id == 0 ? seed : mixed(seed + static_cast<std::uint64_t>(device.id));
}

// The generators of the devices, in this process or in a StatesScope. Callers of the members must hold the mutex.
struct States {
  struct Entry {
    std::unique_ptr<RandomState> state;
    bool in_use = false;  // false: left over from an earlier scope
  };
  std::mutex mutex;
  std::map<std::pair<Device::Kind, int>, Entry> list;
  std::optional<std::uint64_t> seed;  // seed of seed_all()
  std::uint64_t scope_seed = 0;       // seed of a StatesScope
  std::uint64_t fresh_seeds = 0;      // number of seeds taken from it
  States* next = nullptr;             // next in the list of unused objects

  std::uint64_t first_seed(Device device) const { return seed_of(device, seed ? *seed : catena::initial_seed()); }
  RandomState& of(Device device) {
    Entry& entry = list[{device.kind, device.id}];
    if (!entry.in_use) begin(entry, device);
    return *entry.state;
  }

 private:
  void begin(Entry& entry, Device device);
};
Device device_of(const std::pair<Device::Kind, int>& key) { return {key.first, static_cast<std::int16_t>(key.second)}; }

// Never destroyed: other threads may still draw numbers at exit.
States& states_of_process() {
  static States& all = *new States;
  return all;
}

thread_local States* own_states = nullptr;  // of the innermost StatesScope of the thread; null if there is none

States& states() { return own_states != nullptr ? *own_states : states_of_process(); }

// Returns the seed of a generator that is created without a seed.
std::uint64_t fresh_seed() {
  return own_states != nullptr ? mixed(mixed(own_states->scope_seed) + ++own_states->fresh_seeds) : catena::entropy();
}

void States::begin(Entry& entry, Device device) {
  const std::uint64_t first = first_seed(device);
  std::optional<cuda::CurandMethod> method;
  if (States& outside = states_of_process(); this != &outside) {
    const std::lock_guard lock(outside.mutex);
    const auto found = outside.list.find({device.kind, device.id});
    if (found != outside.list.end()) method = found->second.state->method();
  }
  if (!entry.state) entry.state = std::make_unique<RandomState>(first);
  if (method && entry.state->method() == method) entry.state->reseed(first);
  else *entry.state = method ? RandomState(first, *method) : RandomState(first);
  entry.in_use = true;
}

// The states of scopes that have ended. They are kept because the program may still hold references to their
// generators.
struct UnusedStates {
  std::mutex mutex;
  States* first = nullptr;
};
UnusedStates& unused_states() {
  static UnusedStates& all = *new UnusedStates;
  return all;
}

States& take_unused_states() {
  UnusedStates& unused = unused_states();
  {
    const std::lock_guard lock(unused.mutex);
    if (States* const found = unused.first) {
      unused.first = found->next;
      return *found;
    }
  }
  return *new States;
}

void check_floating(std::string_view op, Dtype dtype) {
  check<TypeError>(catena::is_floating(dtype), op, "samples cannot have the dtype ", dtype, ", which is not floating");
}

// Returns the largest number of the dtype below `high` (direction -1) or the smallest above it (direction 1). `high`
// itself need not be a number of the dtype.
double neighbour(Dtype dtype, double high, int direction) {
  return visit_real_dtype("random", dtype, [&](auto tag) -> double {
    using E = typename decltype(tag)::type;
    if constexpr (std::is_same_v<E, float> || std::is_same_v<E, double>) {
      const E e = static_cast<E>(high);
      if (direction < 0 ? double(e) < high : double(e) > high) return e;
      return std::nextafter(e,
                            direction < 0 ? -std::numeric_limits<E>::infinity() : std::numeric_limits<E>::infinity());
    } else if constexpr (!std::is_integral_v<E>) {
      const E e = E(static_cast<float>(high));
      const double value = static_cast<float>(e);
      if (direction < 0 ? value < high : value > high) return value;
      // Adding 1 to the bits of a magnitude gives the next larger magnitude.
      auto bits = std::bit_cast<std::uint16_t>(e);
      const bool negative = (bits & 0x8000u) != 0;
      if ((bits & 0x7fffu) == 0) bits = direction < 0 ? 0x8001u : 0x0001u;
      else bits = static_cast<std::uint16_t>(bits + (negative == (direction < 0) ? 1 : -1));
      return static_cast<float>(std::bit_cast<E>(bits));
    } else {
      return high;
    }
  });
}

}  // namespace

// ---- state --------------------------------------------------------------------------------------
struct BitGenerator::State {
  std::uint64_t seed, offset;
  std::shared_ptr<CurandSource> curand;  // null: Philox
  std::optional<Stream> stream;
};
struct BitGenerator::Guarded {
  std::mutex mutex;
  State state;
};

BitGenerator::BitGenerator() : BitGenerator(fresh_seed()) {}

BitGenerator::BitGenerator(std::uint64_t seed, std::uint64_t offset)
    : guarded_(new Guarded{{}, {seed, offset, nullptr, {}}}) {}

BitGenerator::BitGenerator(std::optional<std::uint64_t> seed, cuda::CurandMethod method)
    : BitGenerator(seed ? *seed : fresh_seed()) {
  State& state = guarded_->state;
  state.curand = std::make_shared<CurandSource>(state.seed, method, current_device());
}

BitGenerator::BitGenerator(const BitGenerator& o) : guarded_(new Guarded{{}, o.copy()}) {}

BitGenerator& BitGenerator::operator=(const BitGenerator& o) {
  State copied = o.copy();
  const std::lock_guard lock(guarded_->mutex);
  std::swap(guarded_->state, copied);
  return *this;
}

BitGenerator::~BitGenerator() = default;

BitGenerator::State BitGenerator::state() const noexcept {
  const std::lock_guard lock(guarded_->mutex);
  return guarded_->state;
}

BitGenerator::State BitGenerator::begin_draw(std::int64_t n) noexcept {
  const std::lock_guard lock(guarded_->mutex);
  State before = guarded_->state;
  if (!before.curand) guarded_->state.offset += catena::random_counters(n);
  return before;
}

BitGenerator::State BitGenerator::copy() const {
  State s = state();
  if (s.curand)
    s = {s.seed, 0, std::make_shared<CurandSource>(s.seed, s.curand->method(), s.curand->device()), s.stream};
  return s;
}

std::uint64_t BitGenerator::initial_seed() const noexcept { return state().seed; }
std::uint64_t BitGenerator::offset() const noexcept { return state().offset; }
BitGenerator::Position BitGenerator::reserve(std::int64_t n) noexcept {
  const std::lock_guard lock(guarded_->mutex);
  State& s = guarded_->state;
  const Position before{s.seed, s.offset};
  s.offset += catena::random_counters(n);
  return before;
}
void BitGenerator::set_stream(const std::optional<Stream>& stream) {
  const std::lock_guard lock(guarded_->mutex);
  guarded_->state.stream = stream;
}

std::optional<cuda::CurandMethod> BitGenerator::method() const noexcept {
  const State s = state();
  return s.curand ? std::optional(s.curand->method()) : std::nullopt;
}

void BitGenerator::reseed(std::optional<std::uint64_t> seed) {
  const std::uint64_t chosen = seed ? *seed : fresh_seed();
  const std::lock_guard lock(guarded_->mutex);
  State& state = guarded_->state;
  if (state.curand) state.curand->reseed(chosen);
  state.seed = chosen;
  state.offset = 0;
}

Philox4x3210::Philox4x3210(std::optional<std::uint64_t> seed) : BitGenerator(seed ? *seed : fresh_seed()) {}
XORWOW::XORWOW(std::optional<std::uint64_t> seed) : BitGenerator(seed, cuda::CurandMethod::xorwow) {}
MRG32k3a::MRG32k3a(std::optional<std::uint64_t> seed) : BitGenerator(seed, cuda::CurandMethod::mrg32k3a) {}

RandomState& get_random_state() {
  States& all = states();
  const std::lock_guard lock(all.mutex);
  return all.of(current_device());
}

// The objects are kept, because callers may hold references to them.
void reset_states() {
  States& all = states();
  const std::lock_guard lock(all.mutex);
  all.seed.reset();
  for (auto& [key, entry] : all.list)
    if (entry.in_use) *entry.state = RandomState(all.first_seed(device_of(key)));
}

std::vector<DeviceState> get_states() {
  States& all = states();
  const std::lock_guard lock(all.mutex);
  std::vector<DeviceState> result;
  for (const auto& [key, entry] : all.list) {
    if (!entry.in_use) continue;
    const Device device = device_of(key);
    const std::uint64_t unrepeatable = entry.state->method() ? CurandSource::draws(device) : 0;
    result.push_back({device, entry.state->initial_seed(), entry.state->offset(), unrepeatable});
  }
  return result;
}

void set_states(std::span<const DeviceState> wanted) {
  States& all = states();
  const std::lock_guard lock(all.mutex);
  for (const DeviceState& w : wanted) {
    RandomState& generator = all.of(w.device);
    if (generator.method()) generator.reseed(w.seed);
    else generator = RandomState(w.seed, w.offset);
  }
}

void seed_all(std::uint64_t seed) {
  States& all = states();
  const std::lock_guard lock(all.mutex);
  all.seed = seed;
  for (auto& [key, entry] : all.list)
    if (entry.in_use) entry.state->reseed(seed_of(device_of(key), seed));
}

StatesScope::StatesScope(std::uint64_t seed) : before_(own_states) {
  own_states = &take_unused_states();
  begin(seed);
}

void StatesScope::begin(std::uint64_t seed) noexcept {
  own_states->seed = own_states->scope_seed = seed;
  own_states->fresh_seeds = 0;
  for (auto& [key, entry] : own_states->list) entry.in_use = false;
}

StatesScope::~StatesScope() {
  UnusedStates& unused = unused_states();
  {
    const std::lock_guard lock(unused.mutex);
    own_states->next = std::exchange(unused.first, own_states);
  }
  own_states = static_cast<States*>(before_);
}

// ---- samples ------------------------------------------------------------------------------------
Array BitGenerator::sample(catena::RandomKind kind, const Shape& size, Dtype dtype, std::int64_t low,
                           std::int64_t high) {
  const Array a(internal::new_array(size, dtype, current_device(), "random"));
  fill(kind, a, low, high);
  return a;
}

void BitGenerator::fill(catena::RandomKind kind, const Array& out, std::int64_t low, std::int64_t high) {
  if (out.size() == 0) return;
  const State now = begin_draw(out.size());
  const auto make = [&] {
    if (!now.curand) {
      internal::execute(catena::call::Random{kind, now.seed, now.offset, low, high, out.get()});
      return;
    }
    now.curand->draw(kind, out, low, high);
    if (kind == catena::RandomKind::uniform) minimum(out, neighbour(out.dtype(), 1, -1), {.out = out});
  };
  if (!now.stream || now.stream->ref() == current_stream(out.device())) return make();
  const Stream& own = *now.stream;
  const Event before({.disable_timing = true}), after({.disable_timing = true});
  const StreamRef current = current_stream(out.device());
  Runtime& b = runtime(out.device().kind);
  b.record_event(before.ptr(), current);  // the memory may have been written by work of the current stream
  own.wait_event(before);
  {
    const StreamScope scope(own);
    make();
  }
  own.record(after);
  b.wait_event(current, after.ptr());
}

Array draw::random_sample(BitGenerator& g, const Shape& size, Dtype dtype) {
  check_floating("random_sample", dtype);
  return g.sample(catena::RandomKind::uniform, size, dtype);
}

Array draw::uniform(BitGenerator& g, double low, double high, const Shape& size, Dtype dtype) try {
  check_floating("uniform", dtype);
  check<ValueError>(std::isfinite(high - low), "uniform", "the range from ", low, " to ", high, " is not finite");
  Array a = g.sample(catena::RandomKind::uniform, size, dtype);
  a *= high - low;
  a += low;
  // Replaces `high`, which rounding may have produced.
  if (low < high) minimum(a, neighbour(dtype, high, -1), {.out = a});
  if (low > high) maximum(a, neighbour(dtype, high, 1), {.out = a});
  return a;
} catch (...) {
  nd::internal::rethrow_out_of_memory("uniform");
}

Array draw::standard_normal(BitGenerator& g, const Shape& size, Dtype dtype) try {
  check_floating("standard_normal", dtype);
  return g.sample(catena::RandomKind::normal, size, dtype);
} catch (...) {
  nd::internal::rethrow_out_of_memory("standard_normal");
}

Array draw::normal(BitGenerator& g, const Operand& loc, const Operand& scale, const std::optional<Shape>& size,
                   Dtype dtype) try {
  check_floating("normal", dtype);
  if (!scale.is_array())
    check<ValueError>(!(scale.scalar().to_double() < 0), "normal", "the deviation ", scale.scalar(), " is negative");
  const catena::Input parameters[2] = {loc, scale};
  const Shape common = catena::broadcast_shape("normal", parameters);
  const Shape shape = size.value_or(common);
  check<ValueError>(catena::broadcast_shapes("normal", common, shape) == shape, "normal", "parameters of shape ",
                    common, " cannot be broadcast to the size ", shape);
  Array a = g.sample(catena::RandomKind::normal, shape, dtype);
  a *= scale;
  a += loc;
  return a;
} catch (...) {
  nd::internal::rethrow_out_of_memory("normal");
}

Array draw::lognormal(BitGenerator& g, const Operand& mean, const Operand& sigma, const std::optional<Shape>& size,
                      Dtype dtype) try {
  check_floating("lognormal", dtype);
  Array a = draw::normal(g, mean, sigma, size, dtype);
  return exp(a, {.out = a});
} catch (...) {
  nd::internal::rethrow_out_of_memory("lognormal");
}

Array draw::gumbel(BitGenerator& g, double loc, double scale, const Shape& size, Dtype dtype) try {
  check_floating("gumbel", dtype);
  // Computed in at least float32, so that 1 - U is never 0. U = 0 is replaced by half of the smallest step, whose
  // logarithm is finite.
  const Dtype compute = dtype == Dtype::float64 ? Dtype::float64 : Dtype::float32;
  const double half_step = compute == Dtype::float64 ? 0x1p-54 : 0x1p-25;
  const Array u = maximum(g.sample(catena::RandomKind::uniform, size, compute), half_step);
  return (loc - scale * log(-log1p(-u))).astype(dtype, {.copy = false});
} catch (...) {
  nd::internal::rethrow_out_of_memory("gumbel");
}

namespace {

// Checks that [low, high] is within the dtype.
void check_range(std::string_view op, std::int64_t low, std::int64_t last, Dtype dtype) {
  check<TypeError>(catena::is_integer(dtype), op, "samples cannot have the dtype ", dtype,
                   ", which is no integer dtype");
  const int bits = static_cast<int>(8 * itemsize(dtype));
  const bool is_unsigned = kind_of(dtype) == DtypeKind::unsigned_;
  const std::int64_t least = is_unsigned ? 0 : INT64_MIN >> (64 - bits);
  const std::int64_t most = bits == 64 ? INT64_MAX : (is_unsigned ? (std::int64_t(1) << bits) - 1 : ~least);
  check<ValueError>(low >= least && last <= most, op, "the range from ", low, " to ", last, " does not fit ", dtype);
}

}  // namespace

Array draw::randint(BitGenerator& g, std::int64_t low, std::optional<std::int64_t> high, const Shape& size,
                    Dtype dtype) try {
  const std::int64_t first = high ? low : 0, end = high ? *high : low;
  check<ValueError>(first < end, "randint", "low ", first, " is not below high ", end);
  check_range("randint", first, end - 1, dtype);
  return g.sample(catena::RandomKind::integers, size, dtype, first, end);
} catch (...) {
  nd::internal::rethrow_out_of_memory("randint");
}

Array draw::random_integers(BitGenerator& g, std::int64_t low, std::optional<std::int64_t> high, const Shape& size,
                            Dtype dtype) try {
  const std::int64_t first = high ? low : 1, last = high ? *high : low;
  check<ValueError>(first <= last, "random_integers", "low ", first, " is above high ", last);
  check_range("random_integers", first, last, dtype);
  if (last != INT64_MAX) return g.sample(catena::RandomKind::integers, size, dtype, first, last + 1);
  // last + 1 exceeds int64, so the range is shifted down by one. If it is all of int64, it is passed to the kernel as
  // the empty range 0, 0, which has that meaning.
  if (first == INT64_MIN) return g.sample(catena::RandomKind::integers, size, dtype, 0, 0);
  Array a = g.sample(catena::RandomKind::integers, size, dtype, first - 1, last);
  a += 1;
  return a;
} catch (...) {
  nd::internal::rethrow_out_of_memory("random_integers");
}

// ---- orders -------------------------------------------------------------------------------------
Array draw::permutation(BitGenerator& g, std::int64_t n) try {
  check<ValueError>(n >= 0, "permutation", "the length ", n, " is negative");
  const Array result(internal::new_array(Shape{n}, Dtype::int64, cpu_device, "permutation"));
  auto* const order = result.data<std::int64_t>();
  std::iota(order, order + n, 0);
  const auto [seed, offset] = g.reserve(n);
  for (std::int64_t i = n - 1; i > 0; --i) {  // Fisher-Yates shuffle
    const catena::philox_words<2> words(seed, offset, i);
    const std::int64_t j = catena::integer_from_words(words, static_cast<int>(i & 3), i, seed, offset, 0, i + 1);
    std::swap(order[i], order[j]);
  }
  return result.to_device(current_device());
} catch (...) {
  nd::internal::rethrow_out_of_memory("permutation");
}

Array draw::permutation(BitGenerator& g, const Array& a) try {
  check<TypeError>(a.ndim() > 0, "permutation", "a 0-d array has no order");
  const DeviceScope scope(a.device());
  return take(a, permutation(g, a.shape()[0]), {.axis = 0});
} catch (...) {
  nd::internal::rethrow_out_of_memory("permutation");
}

void draw::shuffle(BitGenerator& g, const Array& a) try {
  check<TypeError>(a.ndim() > 0, "shuffle", "a 0-d array has no order");
  internal::assign("shuffle", a, permutation(g, a));
} catch (...) {
  nd::internal::rethrow_out_of_memory("shuffle");
}

// ---- choices ------------------------------------------------------------------------------------
namespace {

Array checked_probabilities(const Array& p, std::int64_t n) {
  check<ValueError>(p.shape() == Shape{n}, "choice", "probabilities of shape ", p.shape(), " were given for ", n,
                    " elements");
  check<TypeError>(!catena::is_complex_dtype(p.dtype()), "choice", "probabilities cannot be ", p.dtype());
  const Array exact = p.astype(Dtype::float64, {.copy = false});
  const double least = exact.min().item<double>(), sum = exact.sum().item<double>();
  check<ValueError>(least >= 0, "choice", "the probability ", least, " is negative or no number");
  // As in NumPy: the square root of the dtype's resolution, and at most 1e-3 for 16-bit types; integers count as
  // float64.
  const Dtype given = catena::is_floating(p.dtype()) ? p.dtype() : Dtype::float64;
  const double tolerance = std::min(1e-3, std::sqrt(nd::finfo(given).eps));
  check<ValueError>(std::abs(sum - 1) <= tolerance, "choice", "the probabilities add up to ", sum, ", not to 1");
  return exact;
}

// Inversion: searches a uniform number in the partial sums. An element of probability 0 is never chosen, because its
// partial sum equals the one before it.
Array choose_with_replacement(BitGenerator& g, const Array& p, const Shape& size) {
  Array sums = cumsum(p);
  sums /= sums(-1);
  return searchsorted(sums, g.sample(catena::RandomKind::uniform, size, Dtype::float64), "right");
}

// Element i arrives after an exponential time with the rate p[i]; the first ones are the sample.
Array choose_without_replacement(BitGenerator& g, const Array& p, std::int64_t count) {
  const std::int64_t possible = count_nonzero(p);
  check<ValueError>(count <= possible, "choice", "a sample of ", count, " without replacement was asked for, but only ",
                    possible, " elements have a probability above 0");
  const Array time = -log1p(-g.sample(catena::RandomKind::uniform, p.shape(), Dtype::float64)) / p;
  return argsort(where(p > 0, time, std::numeric_limits<double>::infinity()))(Slice({}, count));
}

}  // namespace

Array draw::choice(BitGenerator& g, std::int64_t n, const Shape& size, const ChoiceOptions& options) try {
  check<ValueError>(n > 0, "choice", "the population has ", n, " elements; at least one is needed");
  const std::int64_t count = catena::size_of(size);
  check<ValueError>(options.replace || count <= n, "choice", "a sample of ", count, " without replacement from ", n,
                    " elements was asked for");
  if (!options.p.is_null()) {
    const Array p = checked_probabilities(options.p, n);
    if (options.replace) return choose_with_replacement(g, p, size);
    return choose_without_replacement(g, p, count).reshape(size);
  }
  if (options.replace) return g.sample(catena::RandomKind::integers, size, Dtype::int64, 0, n);
  return permutation(g, n)(Slice({}, count)).copy().reshape(size);
} catch (...) {
  nd::internal::rethrow_out_of_memory("choice");
}

Array draw::choice(BitGenerator& g, const Array& a, const Shape& size, const ChoiceOptions& options) try {
  check<ValueError>(a.ndim() > 0, "choice", "the population is a 0-d array; nd::random::choice(n) draws from 0..n-1");
  const int axis = catena::normalize_axis("choice", options.axis, a.ndim());
  const DeviceScope scope(a.device());
  return take(a, choice(g, a.shape(axis), size, options), {.axis = axis});
} catch (...) {
  nd::internal::rethrow_out_of_memory("choice");
}

std::string draw::bytes(BitGenerator& g, std::int64_t length) try {
  check<ValueError>(length >= 0, "bytes", "the length ", length, " is negative");
  const std::int64_t words = length / 4 + (length % 4 != 0);
  nd::internal::check_host_room("bytes", static_cast<std::size_t>(words), 4);
  const auto [seed, offset] = g.reserve(words);
  std::string result;
  result.reserve(static_cast<std::size_t>(4 * words));
  for (std::int64_t i = 0; i < words; ++i) {
    const std::uint32_t bits = catena::random_bits32(seed, offset, i);
    for (int b = 0; b < 4; ++b) result.push_back(static_cast<char>(bits >> (8 * b)));
  }
  result.resize(static_cast<std::size_t>(length));
  return result;
} catch (...) {
  nd::internal::rethrow_out_of_memory("bytes");
}

}  // namespace nd::random
