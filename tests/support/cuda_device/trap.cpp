#include <catena/tests/support/cuda_device/trap.h>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include <catena/tests/support/cuda_device/check.h>
#include <catena/tests/support/cuda_device/memory.h>
#include <catena/tests/support/cuda_device/report.h>

namespace cuda_device {
namespace {

struct sigaction previous;

const void* interrupted_instruction(void* context) {
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#else
  (void)context;
  return nullptr;
#endif
}

// Returns the description of an invalid access; empty if it is not related to the device.
std::string describe_fault(const void* address, const Actor* actor) {
  std::ostringstream out;
  if (actor != nullptr && actor->kernel) {
    out << actor->text() << " touches " << address << ", " << describe_address(address);
  } else if (const void* stream = guarding_stream(address); stream != nullptr && is_pinned(address)) {
    out << "the host touched pinned memory that a copy of stream " << stream
        << " still writes; nothing has waited for it: " << address << ", " << describe_address(address);
  } else if (is_pinned(address)) {
    out << "the host touched pinned memory at " << address << ", " << describe_address(address);
  } else if (is_reserved(address)) {
    out << "the host touched device memory at " << address << ", " << describe_address(address);
  }
  return out.str();
}

// Maps a page where a kernel accessed an unmapped one, so that the kernel can end; the context is then unusable.
bool supply_page(const void* address) {
  constexpr std::uintptr_t page = 4096;
  void* at = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) / page * page);
  if (is_reserved(address)) return mprotect(at, page, PROT_READ | PROT_WRITE) == 0;
  return mmap(at, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == at;
}

void pass_on(int number, siginfo_t* info, void* context) {
  if ((previous.sa_flags & SA_SIGINFO) != 0) return previous.sa_sigaction(number, info, context);
  if (previous.sa_handler != SIG_DFL && previous.sa_handler != SIG_IGN) return previous.sa_handler(number);
  signal(number, SIG_DFL);  // the instruction faults again, and the default action ends the program
}

void handle(int number, siginfo_t* info, void* context) {
  // Only faults have an address; a signal from kill() has none.
  Actor* actor = info->si_code > 0 ? current_actor() : nullptr;
  const std::string text = info->si_code > 0 ? describe_fault(info->si_addr, actor) : "";
  if (text.empty()) return pass_on(number, info, context);
  const bool survivable =
      actor != nullptr && actor->kernel && report_mode() == ReportMode::error && supply_page(info->si_addr);
  if (!survivable || !actor->failed) report(text + describe_stack(interrupted_instruction(context)), survivable);
  actor->failed = true;
}

}  // namespace

void install_trap() {
  struct sigaction action {};
  action.sa_sigaction = handle;
  // on the current stack, because an alternate one would be too small for a report
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  if (sigaction(SIGSEGV, &action, &previous) != 0) std::abort();
}

}  // namespace cuda_device
