#include "tests/support/cuda_device/shim.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace shim {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStack = 256 * 1024;
#else
constexpr std::size_t kStack = 64 * 1024;
#endif

// ---- switching stacks ---------------------------------------------------------------------------------------------------------
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
  *--sp = nullptr;  // the stack is then aligned as after a call
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

// ---- a block of threads -------------------------------------------------------------------------------------------------------
enum class State { ready, at_block_barrier, at_warp_barrier, ended };

struct Fiber {
  Context context;
  uint3 index{};
  unsigned id = 0, parity = 0;
  State state = State::ready;
  char* stack = nullptr;
  void* fake_stack = nullptr;  // of the address sanitizer
};

struct Block {
  const char* name = nullptr;
  std::vector<Fiber> fibers;
  std::vector<uint64_t> slots;  // two per lane: a shuffle may begin while slower lanes still read the last one
  std::vector<unsigned> waiting_in_warp;
  unsigned waiting = 0;
  Fiber* current = nullptr;
  Context main;
  void* main_fake_stack = nullptr;
  const void* main_stack = nullptr;
  std::size_t main_stack_size = 0;
  void (*body)(const void*) = nullptr;
  const void* argument = nullptr;
};
thread_local Block* running = nullptr;
thread_local Place here;

void leave(bool for_good) {
  Fiber& f = *running->current;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(for_good ? nullptr : &f.fake_stack, running->main_stack, running->main_stack_size);
#else
  (void)for_good;
#endif
  swap(f.context, running->main);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(f.fake_stack, nullptr, nullptr);
#endif
}

void fiber_main() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &running->main_stack, &running->main_stack_size);
#endif
  running->body(running->argument);
  running->current->state = State::ended;
  leave(true);
  std::abort();
}

void enter(Fiber& f) {
  running->current = &f;
  here.thread = f.index;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&running->main_fake_stack, f.stack, kStack);
#endif
  swap(running->main, f.context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(running->main_fake_stack, nullptr, nullptr);
#endif
}

[[noreturn]] void report_divergence() {
  unsigned count[4] = {0, 0, 0, 0};
  for (const Fiber& f : running->fibers) ++count[static_cast<int>(f.state)];
  std::fprintf(stderr,
               "shim: kernel %s, block (%u, %u, %u): divergent barrier: %u threads wait at __syncthreads, %u at a warp operation, "
               "%u have ended\n",
               running->name, here.block.x, here.block.y, here.block.z, count[1], count[2], count[3]);
  std::fflush(stderr);
  std::abort();
}

void run_block(Order order, std::mt19937& random, std::vector<unsigned>& turns) {
  Block& b = *running;
  std::size_t ended = 0;
  while (ended < b.fibers.size()) {
    if (order == Order::shuffled) std::shuffle(turns.begin(), turns.end(), random);
    bool moved = false;
    for (unsigned turn : turns) {
      Fiber& f = b.fibers[turn];
      if (f.state != State::ready) continue;
      moved = true;
      enter(f);
      ended += f.state == State::ended;
    }
    if (!moved) report_divergence();
  }
}

unsigned warp_size(unsigned warp) { return std::min(32u, static_cast<unsigned>(running->fibers.size()) - warp * 32); }

}  // namespace

Place& place() { return here; }
unsigned lane() { return running->current->id % 32; }

void block_barrier() {
  Block& b = *running;
  b.current->state = State::at_block_barrier;
  if (++b.waiting == b.fibers.size()) {
    b.waiting = 0;
    for (Fiber& f : b.fibers) f.state = State::ready;
  }
  leave(false);
}

void warp_barrier() {
  Block& b = *running;
  const unsigned warp = b.current->id / 32, size = warp_size(warp);
  b.current->state = State::at_warp_barrier;
  if (++b.waiting_in_warp[warp] == size) {
    b.waiting_in_warp[warp] = 0;
    for (unsigned k = 0; k < size; ++k) b.fibers[warp * 32 + k].state = State::ready;
  }
  leave(false);
}

uint64_t exchange(uint64_t value, unsigned source) {
  Fiber& f = *running->current;
  f.parity ^= 1;
  uint64_t* slots = &running->slots[(f.id / 32 * 2 + f.parity) * 32];
  slots[f.id % 32] = value;
  warp_barrier();
  return slots[source];
}

void launch(const char* name, dim3 grid, dim3 block, Order order, void (*body)(const void*), const void* argument) {
  const unsigned n = block.x * block.y * block.z;
  const std::unique_ptr<char[]> memory(new char[n * kStack + 64]);
  char* stacks = memory.get() + (64 - reinterpret_cast<uintptr_t>(memory.get()) % 64);
  Block b;
  b.name = name;
  b.body = body;
  b.argument = argument;
  std::mt19937 random(1);
  std::vector<unsigned> turns(n);
  for (unsigned i = 0; i < n; ++i) turns[i] = order == Order::descending ? n - 1 - i : i;
  for (unsigned k = 0; k < grid.x * grid.y * grid.z; ++k) {
    b.fibers.assign(n, Fiber());
    b.slots.assign((n + 31) / 32 * 64, 0);
    b.waiting_in_warp.assign((n + 31) / 32, 0);
    b.waiting = 0;
    for (unsigned i = 0; i < n; ++i) {
      Fiber& f = b.fibers[i];
      f.id = i;
      f.index = {i % block.x, i / block.x % block.y, i / (block.x * block.y)};
      f.stack = stacks + i * kStack;
      prepare(f.context, f.stack, &fiber_main);
    }
    // A thread of its own per block: its shared memory is then new, and nothing is right only because an earlier block left it there.
    std::thread([&] {
      running = &b;
      here.block = {k % grid.x, k / grid.x % grid.y, k / (grid.x * grid.y)};
      here.block_dim = block;
      here.grid_dim = grid;
      run_block(order, random, turns);
    }).join();
  }
}

}  // namespace shim
