#include <catena/ndarray/cpu/compiled_program.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <catena/kernels/base/error.h>
#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/host_compiler.h>
#include <catena/ndarray/cpu/interpreter.h>
#include <catena/ndarray/cpu/program_text.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::Program;
using catena::Step;

constexpr std::int64_t kFewElements = 4096;  // calls with fewer elements are left to the interpreter
// Elements times steps after which a program is compiled. The interpreter then has lost about as much time as a
// compilation takes.
constexpr std::int64_t kDefaultCost = 3'000'000'000;
constexpr std::size_t kMostPrograms = 256, kMostLoops = 64;  // limits per process

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
constexpr bool kAvailable = false;
#else
constexpr bool kAvailable = true;
#endif

std::int64_t least_cost_of_environment() {
  const char* setting = std::getenv("CATENA_COMPILE_FUSED");
  const bool off = setting != nullptr && (std::string_view(setting) == "off" || std::string_view(setting) == "0");
  return off ? -1 : kDefaultCost;
}
std::atomic<std::int64_t>& least_cost() {
  static std::atomic<std::int64_t> cost{least_cost_of_environment()};
  return cost;
}

// Returns the instruction set of the kernels' loops on this processor. A compiled program uses the same one, because
// vector functions of other lengths give other bits.
const char* processor_of_loops() {
#ifdef CATENA_HAS_MULTIARCH
  if (__builtin_cpu_supports("x86-64-v4")) return "x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "x86-64-v3";
#endif
  return "x86-64";
}

// ---- the entry of a program ---------------------------------------------------------------------
struct Entry {
  Entry(const Program& p, unsigned scalar_operands)
      : steps(p.steps.begin(), p.steps.end()), slots(p.slots.begin(), p.slots.end()), scalars(scalar_operands) {
    program = p;
    program.steps = steps;
    program.slots = slots;
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  bool is(const Program& other, unsigned other_scalars) const {
    const auto same = [](const Step& a, const Step& b) {
      return a.kernel == b.kernel && a.loop == b.loop && a.slot == b.slot;
    };
    return scalars == other_scalars && program.nin == other.nin && program.ninout == other.ninout &&
           program.nout == other.nout &&
           std::equal(slots.begin(), slots.end(), other.slots.begin(), other.slots.end()) &&
           std::equal(steps.begin(), steps.end(), other.steps.begin(), other.steps.end(), same);
  }

  std::vector<Step> steps;
  std::vector<Dtype> slots;
  Program program;
  const unsigned scalars;
  std::atomic<std::int64_t> cost{0};  // of the calls so far
  ProgramLoop loop = nullptr;
  bool tried = false;  // a compilation was begun
};

std::uint64_t hash_of(const Program& program, unsigned scalars) {
  std::uint64_t hash = scalars;
  const auto add = [&hash](std::uint64_t word) {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  };
  for (const Dtype t : program.slots) add(static_cast<std::uint64_t>(t));
  for (const Step& step : program.steps) {
    std::uint64_t slots[2];
    static_assert(sizeof slots == sizeof step.slot);
    std::memcpy(slots, step.slot.data(), sizeof slots);
    add(step.kernel->id + step.loop);
    add(slots[0]);
    add(slots[1]);
  }
  return hash;
}

// ---- the test of a loop -------------------------------------------------------------------------
// Outside the memory pools, whose statistics belong to the user's program.
struct alignas(64) Line {
  std::byte bytes[64];
};
using Memory = std::vector<Line>;
Memory memory_of(std::size_t bytes) { return Memory(bytes / sizeof(Line) + 1); }
std::byte* data_of(Memory& memory) { return memory[0].bytes; }

constexpr std::int64_t kTrialElements = 1024 + 21;  // a block of the interpreter and the beginning of the next one

double drawn_float(std::mt19937_64& random) {
  constexpr double kSpecial[] = {0,         -0.0,    1,           -1,          0.5,         HUGE_VAL,
                                 -HUGE_VAL, NAN,     FLT_MAX,     FLT_MIN,     FLT_EPSILON, FLT_TRUE_MIN,
                                 DBL_MAX,   DBL_MIN, DBL_EPSILON, DBL_TRUE_MIN};
  const std::uint64_t bits = random();
  const double unit = static_cast<double>(bits >> 11) * 0x1p-53, sign = (bits & 1) != 0 ? -1 : 1;
  switch (bits / 2 % 8) {
    case 0: return kSpecial[(bits >> 11) % std::size(kSpecial)];
    case 1: return sign * std::exp2(unit * 40 - 20);
    case 2: return unit;
    default: return sign * unit * 4;
  }
}
std::int64_t drawn_integer(std::mt19937_64& random) {
  const std::uint64_t bits = random();
  return bits % 2 == 0 ? static_cast<std::int64_t>(bits >> 8) : static_cast<std::int64_t>(bits >> 8) % 100;
}
template <class T> void convert(Dtype from, const T* source, Dtype to, std::byte* target) {
  catena::cast_function(from, to)(const_cast<std::byte*>(reinterpret_cast<const std::byte*>(source)),
                                  catena::itemsize(from), target, catena::itemsize(to), kTrialElements);
}

// Returns the memory of an operand, filled with random values: ordinary, large, small and special ones.
Memory drawn(Dtype dtype, std::mt19937_64& random) {
  Memory memory = memory_of(std::size_t(kTrialElements) * catena::itemsize(dtype));
  const auto fill = [&](auto draw, Dtype from) {
    std::array<decltype(draw(random)), kTrialElements> values;
    for (auto& v : values) v = draw(random);
    convert(from, values.data(), dtype, data_of(memory));
  };
  if (catena::is_floating(dtype)) fill(drawn_float, Dtype::float64);
  else fill(drawn_integer, Dtype::int64);
  return memory;
}

// Compares bits, but for those of NaN. As float64, floats keep their bits.
bool same_values(Dtype dtype, const std::byte* a, const std::byte* b) {
  if (!catena::is_floating(dtype)) return std::memcmp(a, b, std::size_t(kTrialElements) * catena::itemsize(dtype)) == 0;
  std::array<double, kTrialElements> x, y;
  convert(dtype, a, Dtype::float64, reinterpret_cast<std::byte*>(x.data()));
  convert(dtype, b, Dtype::float64, reinterpret_cast<std::byte*>(y.data()));
  return std::equal(x.begin(), x.end(), y.begin(), [](double u, double v) {
    return (std::isnan(u) && std::isnan(v)) || std::bit_cast<std::uint64_t>(u) == std::bit_cast<std::uint64_t>(v);
  });
}

// True if the loop gives the same results as the interpreter, on many values and at the end of a block.
bool agrees_with_interpreter(const Entry& entry, ProgramLoop loop, unsigned seed) {
  const Program& program = entry.program;
  const int n_op = program.num_operands();
  std::vector<Memory> memory[2];
  std::vector<BoundOperand> operands;
  std::byte* ptr[2][catena::kMaxSlots];
  std::int64_t stride[catena::kMaxSlots];
  for (int side = 0; side < 2; ++side) {
    std::mt19937_64 random(seed);
    for (int k = 0; k < n_op; ++k) {
      memory[side].push_back(drawn(program.slots[std::size_t(k)], random));
      ptr[side][k] = data_of(memory[side].back());
    }
  }
  for (int k = 0; k < n_op; ++k) {
    const Dtype dtype = program.slots[std::size_t(k)];
    operands.push_back({ptr[0][k], dtype, false, nullptr, nullptr});
    stride[k] = ((entry.scalars >> k) & 1) != 0 ? 0 : static_cast<std::int64_t>(catena::itemsize(dtype));
  }
  const Interpreter interpreter(program, operands, kTrialElements);
  Memory tiles = memory_of(interpreter.tile_bytes());
  interpreter.run(data_of(tiles), ptr[0], stride, kTrialElements);
  loop(ptr[1], kTrialElements);
  for (int k = program.nin; k < n_op; ++k)
    if (!same_values(program.slots[std::size_t(k)], ptr[0][k], ptr[1][k])) return false;
  return true;
}

// Tests several times: a random operand of one element may be a NaN or a zero, which hides the other values.
bool agrees_with_interpreter(const Entry& entry, ProgramLoop loop) {
  constexpr unsigned kTimes = 16;
  for (unsigned seed = 0; seed < kTimes; ++seed)
    if (!agrees_with_interpreter(entry, loop, seed)) return false;
  return true;
}

// ---- the programs of this process ---------------------------------------------------------------
class Programs {
 public:
  static Programs& instance() {
    static auto& all = *new Programs;
    return all;
  }

  // Nothing here waits for a lock: while another thread adds or compiles a program, the interpreter runs this call. It
  // also runs the programs of a child of fork() in which the lock stays held.
  CompiledProgram find(const Program& program, unsigned scalars, std::int64_t n) {
    const std::uint64_t key = hash_of(program, scalars);
    Entry* entry = nullptr;
    {
      const std::shared_lock lock(mutex_, std::try_to_lock);
      if (!lock) return {};
      if (const auto found = entries_.find(key); found != entries_.end()) entry = found->second.get();
      if (entry != nullptr && !entry->is(program, scalars)) return {};
      if (entry != nullptr && entry->loop != nullptr) return {entry->loop, scalars};
      if (entry != nullptr && entry->tried) return {};
    }
    if (entry != nullptr && entry->cost.fetch_add(n * cost_of(program)) < least_cost().load()) return {};
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return {};
    if (entry == nullptr) {
      if (entries_.size() >= kMostPrograms) return {};
      entry = entries_.emplace(key, std::make_unique<Entry>(program, scalars)).first->second.get();
      entry->cost = n * cost_of(program);
      if (least_cost().load() > 0) return {};
    }
    if (!entry->tried) compile(*entry);
    return {entry->loop, scalars};
  }

  ProgramStatistics statistics() {
    const std::shared_lock lock(mutex_);
    return statistics_;
  }

 private:
  void compile(Entry& entry) {
    entry.tried = true;
    if (++attempts_ > kMostLoops) return;
    try {
      const ProgramLoop loop = compiled(entry);
      const bool agrees = agrees_with_interpreter(entry, loop);
      statistics_.differing += !agrees;
      catena::check<catena::RuntimeError>(agrees, "fused program", "the compiled loop differs from the interpreter");
      entry.loop = loop;
      ++statistics_.compiled;
    } catch (const std::exception& e) {  // the interpreter continues to run the program
      ++statistics_.refused;
      statistics_.last_failure = e.what();
    }
  }

  ProgramLoop compiled(const Entry& entry) {
    std::string text = text_of(entry.program, entry.scalars);
    catena::check<catena::NotImplementedError>(!text.empty(), "fused program", "its steps or dtypes have no text");
    HostCompileRequest request{
        "fused program", "program", std::move(text), {"-fno-math-errno", "-fno-trapping-math"}, {}};
    request.processor = processor_of_loops();
    request.symbols = {kProgramEntry};
    modules_.push_back(compile_for_host(request));
    return reinterpret_cast<ProgramLoop>(modules_.back()->required("fused program", kProgramEntry));
  }

  std::shared_mutex mutex_;  // guards the members below; compilation holds it
  std::unordered_map<std::uint64_t, std::unique_ptr<Entry>> entries_;
  std::vector<std::shared_ptr<const HostModule>> modules_;  // loops are never unloaded
  std::size_t attempts_ = 0;
  ProgramStatistics statistics_;
};

}  // namespace

std::int64_t cost_of(const Program& program) {
  std::int64_t cost = 0;
  for (const Step& step : program.steps) cost += step.kernel->transcendental ? 4 : 1;
  return cost;
}

CompiledProgram compiled_program(const Program& program, std::span<const BoundOperand> operands, std::int64_t n) {
  if (!kAvailable || n < kFewElements || program.steps.size() < 2) return {};
  if (least_cost().load(std::memory_order_relaxed) < 0) return {};
  unsigned scalars = 0;
  for (int k = 0; k < program.nin; ++k) {
    bool repeated = true;
    for (const std::int64_t s : *operands[std::size_t(k)].strides) repeated &= s == 0;
    scalars |= unsigned(repeated) << k;
  }
  return Programs::instance().find(program, scalars, n);
}

ProgramStatistics compiled_program_statistics() { return Programs::instance().statistics(); }

std::int64_t set_program_compilation(std::int64_t cost) {
  return least_cost().exchange(cost, std::memory_order_relaxed);
}

}  // namespace nd::cpu
