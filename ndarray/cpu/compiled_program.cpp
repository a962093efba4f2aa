#include <catena/ndarray/cpu/compiled_program.h>

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>
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

constexpr std::int64_t kFewElements = 4096;                  // calls with fewer elements are left to the interpreter
constexpr std::int64_t kDefaultCost = 1'000'000'000;         // elements times steps after which a program is compiled
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
  std::atomic<ProgramLoop> loop{nullptr};
  std::int64_t cost = 0;  // of the calls so far
  bool requested = false;
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
struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
// Allocates outside the memory pools, whose statistics belong to the user's program.
std::unique_ptr<std::byte, Free> aligned_memory(std::size_t bytes) {
  auto* const memory = static_cast<std::byte*>(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
  catena::check<catena::OutOfMemoryError>(memory != nullptr, "fuse", "there are no ", bytes, " bytes for a trial");
  return std::unique_ptr<std::byte, Free>(memory);
}

// Memory of an operand, filled with random values: ordinary, large, small and special ones.
class Drawn {
 public:
  Drawn(Dtype dtype, std::int64_t n, std::mt19937_64& random) : item_(catena::itemsize(dtype)) {
    memory_ = aligned_memory(std::size_t(n) * item_);
    for (std::int64_t i = 0; i < n; ++i) {
      std::byte* const to = data() + std::size_t(i) * item_;
      if (dtype == Dtype::float32) store(to, static_cast<float>(number<float>(random)));
      else if (dtype == Dtype::float64) store(to, number<double>(random));
      else store_integer(to, random);
    }
  }
  std::byte* data() const { return memory_.get(); }

 private:
  template <class T> static void store(std::byte* to, T value) { std::memcpy(to, &value, sizeof value); }
  void store_integer(std::byte* to, std::mt19937_64& random) const {
    const std::uint64_t bits = random();
    const std::int64_t value =
        bits % 2 == 0 ? static_cast<std::int64_t>(bits >> 8) : static_cast<std::int64_t>(bits >> 8) % 100;
    std::memcpy(to, &value, item_);  // the lowest bytes
  }
  template <class T> static double number(std::mt19937_64& random) {
    using Limits = std::numeric_limits<T>;
    constexpr double kSpecial[] = {0,
                                   -0.0,
                                   1,
                                   -1,
                                   0.5,
                                   Limits::infinity(),
                                   -Limits::infinity(),
                                   Limits::quiet_NaN(),
                                   Limits::max(),
                                   Limits::min(),
                                   Limits::denorm_min(),
                                   Limits::epsilon()};
    const std::uint64_t bits = random();
    const double unit = static_cast<double>(bits >> 11) * 0x1p-53, sign = (bits & 1) != 0 ? -1 : 1;
    switch (bits / 2 % 8) {
      case 0: return kSpecial[(bits >> 11) % std::size(kSpecial)];
      case 1: return sign * std::exp2(unit * 40 - 20);
      case 2: return unit;
      default: return sign * unit * 4;
    }
  }

  std::size_t item_;
  std::unique_ptr<std::byte, Free> memory_;
};

template <class T> bool same_numbers(const std::byte* a, const std::byte* b, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) {
    T x, y;
    std::memcpy(&x, a + std::size_t(i) * sizeof(T), sizeof(T));
    std::memcpy(&y, b + std::size_t(i) * sizeof(T), sizeof(T));
    if (std::memcmp(&x, &y, sizeof(T)) != 0 && !(x != x && y != y)) return false;
  }
  return true;
}
bool same_values(Dtype dtype, const std::byte* a, const std::byte* b, std::int64_t n) {
  if (dtype == Dtype::float32) return same_numbers<float>(a, b, n);
  if (dtype == Dtype::float64) return same_numbers<double>(a, b, n);
  return std::memcmp(a, b, std::size_t(n) * catena::itemsize(dtype)) == 0;
}

// True if the loop gives the same results as the interpreter, on many values and at the end of a block.
bool agrees_with_interpreter(const Entry& entry, ProgramLoop loop, unsigned seed) {
  constexpr std::int64_t kElements = 1024 + 21;
  const Program& program = entry.program;
  const int n_op = program.num_operands();
  std::vector<Drawn> memory[2];
  std::vector<BoundOperand> operands;
  std::byte* ptr[2][catena::kMaxSlots];
  std::int64_t stride[catena::kMaxSlots];
  for (int side = 0; side < 2; ++side) {
    std::mt19937_64 random(seed);
    for (int k = 0; k < n_op; ++k) {
      memory[side].emplace_back(program.slots[std::size_t(k)], kElements, random);
      ptr[side][k] = memory[side].back().data();
    }
  }
  for (int k = 0; k < n_op; ++k) {
    const Dtype dtype = program.slots[std::size_t(k)];
    operands.push_back({ptr[0][k], dtype, false, nullptr, nullptr});
    stride[k] = ((entry.scalars >> k) & 1) != 0 ? 0 : static_cast<std::int64_t>(catena::itemsize(dtype));
  }
  const Interpreter interpreter(program, operands, kElements);
  const auto tiles = aligned_memory(interpreter.tile_bytes());
  interpreter.run(tiles.get(), ptr[0], stride, kElements);
  loop(ptr[1], kElements);
  for (int k = program.nin; k < n_op; ++k)
    if (!same_values(program.slots[std::size_t(k)], ptr[0][k], ptr[1][k], kElements)) return false;
  return true;
}

// Tests several times: a random operand of one element may be a NaN or a zero, which hides the other values.
bool agrees_with_interpreter(const Entry& entry, ProgramLoop loop) {
  constexpr unsigned kTimes = 16;
  for (unsigned seed = 0; seed < kTimes; ++seed)
    if (!agrees_with_interpreter(entry, loop, seed)) return false;
  return true;
}

// ---- the thread that compiles -------------------------------------------------------------------
class Compilations final : private CompilerProcess {
 public:
  // Returns the instance of this process. A fork waits while the thread works, except while the compiler runs, so that
  // a child finds no locked mutex inside the libraries. A child has no such thread and gets its own instance.
  static Compilations& instance() {
    static const int registered = pthread_atfork(before_fork, after_fork, in_child);
    (void)registered;
    Compilations* now = current().load(std::memory_order_acquire);
    if (now == nullptr) [[unlikely]] {  // the child had no memory for them
      auto fresh = std::make_unique<Compilations>();
      if (current().compare_exchange_strong(now, fresh.get())) now = fresh.release();
    }
    return *now;
  }

  CompiledProgram find(const Program& program, unsigned scalars, std::int64_t n) {
    const std::uint64_t key = hash_of(program, scalars);
    const std::lock_guard lock(mutex_);
    auto found = entries_.find(key);
    if (found == entries_.end()) {
      if (entries_.size() >= kMostPrograms) return {};
      found = entries_.emplace(key, std::make_unique<Entry>(program, scalars)).first;
    }
    Entry& entry = *found->second;
    if (!entry.is(program, scalars)) return {};
    if (const ProgramLoop loop = entry.loop.load(std::memory_order_acquire)) return {loop, scalars};
    if (entry.requested) return {};
    if (entry.cost >= least_cost().load(std::memory_order_relaxed)) request(entry);
    entry.cost += n * cost_of(program);
    return {};
  }

  ProgramStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }
  void wait() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return !running_; });
  }

 private:
  static std::atomic<Compilations*>& current() {
    static std::atomic<Compilations*> compilations{new Compilations};
    return compilations;
  }
  // The caches whose lock this thread holds while it forks.
  static Compilations*& held() {
    static thread_local Compilations* compilations = nullptr;
    return compilations;
  }
  static void before_fork() {
    held() = current().load();
    if (held() != nullptr) held()->activity_.lock();
  }
  static void after_fork() {
    if (held() != nullptr) held()->activity_.unlock();
  }
  static void in_child() {
    try {
      current().store(new Compilations);
    } catch (const std::bad_alloc&) {
      current().store(nullptr);
    }
  }

  // The caller must hold mutex_.
  void request(Entry& entry) {
    entry.requested = true;
    if (++requests_ > kMostLoops || ending_) return;
    queue_.push_back(&entry);
    if (running_) return;
    static const int registered = std::atexit([] { instance().end(); });
    (void)registered;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // the thread handles no signals of the program
    try {
      std::thread([this] { work(); }).detach();
      running_ = true;
    } catch (const std::system_error&) {  // without a thread, the interpreter continues to run the programs
      queue_.clear();
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  void work() {
    activity_.lock();
    for (;;) {
      Entry* entry = nullptr;
      {
        const std::lock_guard lock(mutex_);
        if (queue_.empty() || ending_) break;
        entry = queue_.front();
        queue_.pop_front();
      }
      compile(*entry);
    }
    activity_.unlock();
    const std::lock_guard lock(mutex_);
    running_ = false;
    finished_.notify_all();
  }

  void compile(Entry& entry) {
    ProgramLoop loop = nullptr;
    std::string failure;
    bool differs = false;
    try {
      loop = compiled(entry);
      differs = !agrees_with_interpreter(entry, loop);
      if (differs) failure = "the compiled loop differs from the interpreter";
    } catch (const std::exception& e) {
      failure = e.what();
    }
    if (failure.empty()) entry.loop.store(loop, std::memory_order_release);
    const std::lock_guard lock(mutex_);
    statistics_.compiled += failure.empty();
    statistics_.refused += !failure.empty();
    statistics_.differing += differs;
    if (!failure.empty()) statistics_.last_failure = std::move(failure);
  }

  ProgramLoop compiled(Entry& entry) {
    std::string text = text_of(entry.program, entry.scalars);
    catena::check<catena::NotImplementedError>(!text.empty(), "fused program", "its steps or dtypes have no text");
    HostCompileRequest request{
        "fused program", "program", std::move(text), {"-fno-math-errno", "-fno-trapping-math"}, {}};
    request.processor = processor_of_loops();
    request.in_background = this;
    request.symbols = {kProgramEntry};
    modules_.push_back(compile_for_host(request));
    return reinterpret_cast<ProgramLoop>(modules_.back()->required("fused program", kProgramEntry));
  }

  void started(int process) override {
    compiler_.store(process);
    if (ending_) ::kill(process, SIGKILL);
    activity_.unlock();
  }
  void ended() override {
    activity_.lock();
    compiler_.store(0);
  }

  // At the end of the process: removes the folder. Waits only briefly.
  void end() {
    ending_ = true;
    if (const int process = compiler_.load(); process != 0) ::kill(process, SIGKILL);
    std::unique_lock lock(mutex_);
    finished_.wait_for(lock, std::chrono::milliseconds(100), [&] { return !running_; });
  }

  std::mutex mutex_;  // guards the members up to statistics_
  std::unordered_map<std::uint64_t, std::unique_ptr<Entry>> entries_;
  std::deque<Entry*> queue_;
  std::size_t requests_ = 0;
  bool running_ = false;
  ProgramStatistics statistics_;
  std::condition_variable finished_;

  std::mutex activity_;                                     // held by the thread, except while the compiler runs
  std::vector<std::shared_ptr<const HostModule>> modules_;  // used by the thread; loops are never unloaded
  std::atomic<int> compiler_{0};                            // process id of the compiler
  std::atomic<bool> ending_{false};
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
  return Compilations::instance().find(program, scalars, n);
}

ProgramStatistics compiled_program_statistics() { return Compilations::instance().statistics(); }

std::int64_t set_program_compilation(std::int64_t cost) {
  return least_cost().exchange(cost, std::memory_order_relaxed);
}
void wait_for_program_compilation() { Compilations::instance().wait(); }

}  // namespace nd::cpu
