#include <catena/tests/support/cuda_device/shim.h>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <catena/tests/support/cuda_device/engine.h>
#include <catena/tests/support/cuda_device/report.h>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

// The interface between the dynamic linker and compilers, which no header declares.
struct ThreadLocalIndex {
  unsigned long module, offset;
};
extern "C" void* __tls_get_addr(ThreadLocalIndex*);

namespace shim {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStack = 256 * 1024;
#else
constexpr std::size_t kStack = 64 * 1024;
#endif
constexpr unsigned kMaxThreads = 1024;  // of a block

// ---- switching stacks ---------------------------------------------------------------------------
#if defined(__x86_64__)
struct Context {
  void* sp = nullptr;
};
extern "C" void catena_shim_switch(void** save, void* load);
asm(".pushsection .text\n"
    ".globl catena_shim_switch\n.hidden catena_shim_switch\n.type catena_shim_switch, @function\n"
    "catena_shim_switch:\n"
    " push %rbp\n push %rbx\n push %r12\n push %r13\n push %r14\n push %r15\n"
    " mov %rsp,(%rdi)\n mov %rsi,%rsp\n"
    " pop %r15\n pop %r14\n pop %r13\n pop %r12\n pop %rbx\n pop %rbp\n ret\n"
    ".popsection\n");

void prepare(Context& c, char* stack, void (*entry)()) {
  void** sp = reinterpret_cast<void**>(stack + kStack);
  *--sp = nullptr;  // so that the stack is aligned as after a call
  *--sp = reinterpret_cast<void*>(entry);
  for (int saved = 0; saved < 6; ++saved) *--sp = nullptr;
  c.sp = sp;
}
void swap(Context& from, Context& to) { catena_shim_switch(&from.sp, to.sp); }
#else
struct Context {
  ucontext_t context;
};
void prepare(Context& c, char* stack, void (*entry)()) {
  getcontext(&c.context);
  c.context.uc_stack.ss_sp = stack;
  c.context.uc_stack.ss_size = kStack;
  c.context.uc_link = nullptr;
  makecontext(&c.context, entry, 0);
}
void swap(Context& from, Context& to) { swapcontext(&from.context, &to.context); }
#endif

// ---- state of a host thread that runs grids -----------------------------------------------------
// The stacks of a block's threads. They are kept between launches, so that their pages stay mapped. A guard page
// precedes each stack.
class Stacks {
 public:
  ~Stacks() {
    if (memory_ != nullptr) munmap(memory_, kMaxThreads * size());
  }
  char* get(unsigned k) {
    if (memory_ == nullptr) {
      void* memory = mmap(nullptr, kMaxThreads * size(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (memory == MAP_FAILED) cuda_device::report("no memory for the stacks of a block", false);
      memory_ = static_cast<char*>(memory);
    }
    for (; ready_ <= k; ++ready_) mprotect(memory_ + ready_ * size() + guard(), kStack, PROT_READ | PROT_WRITE);
    return memory_ + k * size() + guard();
  }
  Range range() const { return {memory_, memory_ + kMaxThreads * size()}; }

 private:
  static std::size_t guard() {
    static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    return page;
  }
  static std::size_t size() { return guard() + kStack; }

  char* memory_ = nullptr;
  unsigned ready_ = 0;
};

enum class State { ready, at_block_barrier, at_warp_barrier, ended };

// A fiber runs the thread with its number in each block, one after the other.
struct Fiber {
  Context context;
  uint3 index{};
  unsigned parity = 0;
  State state = State::ready;
  char* stack = nullptr;
  void* fake_stack = nullptr;  // of the address sanitizer; kept, because creating one is slow
};

struct Engine {
  const Launch* launch = nullptr;
  Running running;
  Place place;
  unsigned thread = 0;
  std::uint64_t block_barriers = 0, warp_barriers = 0;

  // For blocks with barriers.
  Stacks stacks;
  std::vector<Fiber> fibers;                             // created so far; their addresses are stable
  unsigned threads = 0;                                  // threads of the block
  unsigned ended = 0;                                    // of them
  const unsigned *turn = nullptr, *last_turn = nullptr;  // threads whose turn in this round is still to come
  std::vector<std::uint64_t> slots;  // two per lane: a shuffle may begin while other lanes still read the previous one
  std::vector<unsigned> waiting_in_warp;
  std::vector<std::uint64_t> warp_moment;
  unsigned waiting = 0;
  Context main;
  void* main_fake_stack = nullptr;
  const void* main_stack = nullptr;
  std::size_t main_stack_size = 0;

  Fiber& current() { return fibers[thread]; }
};
thread_local Engine own_engine;
// A cache of the thread's engine; null before its first use.
[[gnu::tls_model("initial-exec")]] constinit thread_local Engine* engine = nullptr;

Engine& get_engine() {
  if (engine == nullptr) engine = &own_engine;
  return *engine;
}

std::string where() {
  std::ostringstream text;
  const uint3 b = engine->place.block;
  text << "kernel " << engine->launch->name << ", block (" << b.x << ", " << b.y << ", " << b.z << ")";
  return text.str();
}

void need_fibers(const char* what) {
  if (!engine->launch->barriers)
    cuda_device::report(where() + ": " + what + " in a kernel that was taken to have none", false);
}

// Makes the next thread of the round that can run the current one; null: there is none.
Fiber* next_fiber() {
  Engine& e = *engine;
  while (e.turn != e.last_turn) {
    const unsigned thread = *e.turn++;
    Fiber& f = e.fibers[thread];
    if (f.state != State::ready) continue;
    e.thread = thread;
    e.place.thread = f.index;
    return &f;
  }
  return nullptr;
}

// Continues the next thread of the round, or the main stack behind the last one.
void leave() {
  Fiber& f = engine->current();
#if defined(__SANITIZE_ADDRESS__)
  // The sanitizer knows the stack of main only if all switches go through it.
  __sanitizer_start_switch_fiber(&f.fake_stack, engine->main_stack, engine->main_stack_size);
  swap(f.context, engine->main);
  __sanitizer_finish_switch_fiber(f.fake_stack, nullptr, nullptr);
#else
  Fiber* next = next_fiber();
  swap(f.context, next != nullptr ? next->context : engine->main);
#endif
}

[[noreturn]] void fiber_main() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &engine->main_stack, &engine->main_stack_size);
#endif
  for (;;) {
    engine->launch->call(engine->launch->parameters);
    engine->current().state = State::ended;
    ++engine->ended;
    leave();
  }
}

void enter(Fiber& f) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&engine->main_fake_stack, f.stack, kStack);
#endif
  swap(engine->main, f.context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(engine->main_fake_stack, nullptr, nullptr);
#endif
}

[[noreturn]] void report_divergence() {
  unsigned count[4] = {0, 0, 0, 0};
  for (unsigned k = 0; k < engine->threads; ++k) ++count[static_cast<int>(engine->fibers[k].state)];
  std::ostringstream text;
  text << where() << ": divergent barrier: " << count[1] << " threads wait at __syncthreads, " << count[2]
       << " at a warp operation, " << count[3] << " have ended";
  cuda_device::report(text.str(), false);
  std::abort();
}

void rendezvous_of_warp(bool orders) {
  const unsigned warp = engine->thread / 32, size = lanes();
  engine->current().state = State::at_warp_barrier;
  if (++engine->waiting_in_warp[warp] == size) {
    engine->waiting_in_warp[warp] = 0;
    if (orders) engine->warp_moment[warp] = ++engine->warp_barriers;
    for (unsigned k = 0; k < size; ++k) engine->fibers[warp * 32 + k].state = State::ready;
  }
  leave();
}

uint3 index_of(unsigned i, dim3 size) { return {i % size.x, i / size.x % size.y, i / (size.x * size.y)}; }

void run_with_barriers(std::vector<unsigned>& turns, std::mt19937* random) {
  Engine& e = *engine;
  const auto n = static_cast<unsigned>(turns.size());
  e.threads = n;
  e.slots.assign((n + 31) / 32 * 64, 0);
  e.waiting_in_warp.assign((n + 31) / 32, 0);
  e.warp_moment.assign((n + 31) / 32, ++e.warp_barriers);
  e.waiting = 0;
  e.fibers.reserve(kMaxThreads);
  for (auto k = static_cast<unsigned>(e.fibers.size()); k < n; ++k) {
    Fiber& f = e.fibers.emplace_back();
    f.stack = e.stacks.get(k);
    prepare(f.context, f.stack, &fiber_main);
  }
  for (unsigned k = 0; k < n; ++k) {
    e.fibers[k].index = index_of(k, e.launch->block);
    e.fibers[k].parity = 0;
    e.fibers[k].state = State::ready;
  }
  e.running.stacks = e.stacks.range();
  // Shared memory is filled, so that no kernel depends on the values of an earlier block: floats are NaN, integers -1.
  std::fill(e.running.shared.begin, e.running.shared.end, '\xff');
  for (e.ended = 0; e.ended < n;) {
    if (random != nullptr) std::shuffle(turns.begin(), turns.end(), *random);
    e.turn = turns.data();
    e.last_turn = e.turn + n;
    Fiber* f = next_fiber();
    if (f == nullptr) report_divergence();
    for (; f != nullptr; f = next_fiber()) enter(*f);
  }
}

void run_directly(std::vector<unsigned>& turns, std::mt19937* random) {
  Engine& e = *engine;
  if (random != nullptr) std::shuffle(turns.begin(), turns.end(), *random);
  for (unsigned turn : turns) {
    e.thread = turn;
    e.place.thread = index_of(turn, e.launch->block);
    e.launch->call(e.launch->parameters);
  }
}

// Returns the calling thread's thread-local variables of the shared object that contains the code.
Range thread_locals_of(const void* code) {
  struct Search {
    std::uintptr_t code;
    ThreadLocalIndex index;
    std::size_t bytes;
  } search{reinterpret_cast<std::uintptr_t>(code), {0, 0}, 0};
  const auto look = [](dl_phdr_info* object, std::size_t, void* argument) {
    Search& s = *static_cast<Search*>(argument);
    bool mine = false;
    std::size_t bytes = 0;
    for (int k = 0; k < object->dlpi_phnum; ++k) {
      const auto& part = object->dlpi_phdr[k];
      mine |= part.p_type == PT_LOAD && s.code - (object->dlpi_addr + part.p_vaddr) < part.p_memsz;
      if (part.p_type == PT_TLS) bytes = part.p_memsz;
    }
    if (mine) {
      s.index.module = object->dlpi_tls_modid;
      s.bytes = bytes;
    }
    return int(mine);
  };
  dl_iterate_phdr(look, &search);
  if (search.bytes == 0) return {};
  char* begin = static_cast<char*>(__tls_get_addr(&search.index));
  return {begin, begin + search.bytes};
}

Order order_of_environment() {
  const char* name = std::getenv("CATENA_SOFTWARE_CUDA_ORDER");
  const std::string text = name != nullptr ? name : "";
  if (text == "descending") return Order::descending;
  if (text == "shuffled") return Order::shuffled;
  if (!text.empty() && text != "ascending")
    cuda_device::report("CATENA_SOFTWARE_CUDA_ORDER is '" + text + "', not ascending, descending or shuffled", false);
  return Order::ascending;
}
std::atomic<Order>& chosen_order() {
  static std::atomic<Order> chosen{order_of_environment()};
  return chosen;
}

}  // namespace

void set_order(Order o) { chosen_order() = o; }
Order order() { return chosen_order(); }

Place& place() { return get_engine().place; }
unsigned lane() { return engine->thread % 32; }
unsigned lanes() {
  const dim3& b = engine->place.block_dim;
  return std::min(32u, b.x * b.y * b.z - engine->thread / 32 * 32);
}
const Running* running() { return engine != nullptr && engine->launch != nullptr ? &engine->running : nullptr; }
Moment moment() {
  return {engine->thread, engine->block_barriers,
          engine->launch->barriers ? engine->warp_moment[engine->thread / 32] : 0};
}

void block_barrier() {
  need_fibers("__syncthreads");
  engine->current().state = State::at_block_barrier;
  if (++engine->waiting == engine->threads) {
    engine->waiting = 0;
    ++engine->block_barriers;
    for (unsigned k = 0; k < engine->threads; ++k) engine->fibers[k].state = State::ready;
  }
  leave();
}

void warp_barrier() {
  need_fibers("__syncwarp");
  rendezvous_of_warp(true);
}

std::uint64_t exchange(std::uint64_t value, unsigned source) {
  need_fibers("a shuffle");
  Fiber& f = engine->current();
  f.parity ^= 1;
  std::uint64_t* slots = &engine->slots[(engine->thread / 32 * 2 + f.parity) * 32];
  slots[engine->thread % 32] = value;
  rendezvous_of_warp(false);
  return slots[source];
}

void run(const Launch& launch) {
  const unsigned n = launch.block.x * launch.block.y * launch.block.z;
  if (n > kMaxThreads)
    cuda_device::report(std::string("kernel ") + launch.name + ": a block of " + std::to_string(n) + " threads", false);
  std::unique_ptr<std::mt19937> random;  // only for that order, because its state is large
  if (launch.order == Order::shuffled) random = std::make_unique<std::mt19937>(1);
  std::vector<unsigned> turns(n);
  for (unsigned i = 0; i < n; ++i) turns[i] = launch.order == Order::descending ? n - 1 - i : i;

  Engine& e = get_engine();
  e.launch = &launch;
  e.running = {&launch, thread_locals_of(reinterpret_cast<const void*>(launch.call)), {}};
  e.place.block_dim = launch.block;
  e.place.grid_dim = launch.grid;
  const std::uint64_t blocks = std::uint64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  for (std::uint64_t k = 0; k < blocks; ++k) {
    const std::uint64_t at = launch.order == Order::descending ? blocks - 1 - k : k, rest = at / launch.grid.x;
    e.place.block = {unsigned(at % launch.grid.x), unsigned(rest % launch.grid.y), unsigned(rest / launch.grid.y)};
    ++e.block_barriers;
    if (launch.barriers) run_with_barriers(turns, random.get());
    else run_directly(turns, random.get());
  }
  e.launch = nullptr;
}

}  // namespace shim
