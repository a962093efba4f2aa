// Controls and queries of the software device for tests: a table of the functions that the device's library exports for
// this purpose, and a class that resolves them. Tests call them through the class only.
//
// Thread safety: all functions may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include <catena/tests/support/cuda_device/kernel_profile.h>

// Name of the exported function, name of the member that holds it, type.
#define CATENA_CONTROL_FUNCTIONS(X)                                                                       \
  X(software_cuda_fail, fail, int(const char* entry, int nth, int code, int sticky))                      \
  X(software_cuda_clear_faults, clear_faults, void())                                                     \
  X(software_cuda_calls, calls, int(const char* entry, std::uint64_t* count))                             \
  X(software_cuda_launches, launches, std::size_t(cuda_device::ControlLaunch* first, std::size_t count))  \
  X(software_cuda_atomics, atomics, std::uint64_t())                                                      \
  X(software_cuda_synchronisations, synchronisations, std::size_t(const char** first, std::size_t count)) \
  X(software_cuda_reset_records, reset_records, void())                                                   \
  X(software_cuda_set_memory, set_memory, int(int device, std::size_t bytes))                             \
  X(software_cuda_set_order, set_order, void(int order))                                                  \
  X(software_cuda_last_report, last_report, std::size_t(char* text, std::size_t bytes))                   \
  X(software_cuda_set_report_mode, set_report_mode, void(int mode))                                       \
  X(software_cuda_set_check, set_check, void(int on))                                                     \
  X(software_cuda_profile, profile, void(const cuda_device::ProfiledDevice* device))                      \
  X(software_cuda_profiles, profiles, std::size_t(cuda_device::KernelProfile* first, std::size_t count))

namespace cuda_device {

struct ControlLaunch {
  char kernel[128];  // truncated if longer
  unsigned grid[3], block[3];
  const void* stream;  // null: the legacy stream
  int device;
};

enum class ThreadOrder { ascending, descending, shuffled };
enum class OnReport { abort, error };

class Control {
 public:
  struct Launch {
    std::string kernel;
    unsigned grid[3], block[3];
    const void* stream;
    int device;
  };

  // Throws a RuntimeError if the program does not run on the software device.
  Control();
  // True if $CATENA_CUDA_LIBRARIES is the folder of a software device.
  static bool available();

  // Makes call number `nth` (from 1, counted from now) of the entry point fail with `code`: once, or from then on if
  // sticky. Entry "kernel" is the execution of a kernel or of a library's work, after which the context is unusable. A
  // fatal driver code for an entry point of a library makes the context unusable, and the library returns its
  // "execution failed". ValueError for an unknown entry point.
  void fail(const std::string& entry, int nth, int code, bool sticky = false);
  // Removes all planned failures and makes unusable contexts usable again.
  void clear_faults();

  // Counts since the start or reset_records().
  std::uint64_t calls(const std::string& entry) const;  // ValueError: unknown entry point
  std::vector<Launch> launches() const;                 // kernels in the order of submission to streams
  std::uint64_t atomics() const;                        // to memory of the device, by atomic functions of kernels
  std::vector<std::string> synchronisations() const;    // calls in which the host waited for the device
  void reset_records();

  void set_memory(int device, std::size_t bytes);  // ValueError: no such device
  void set_order(ThreadOrder order);               // the order in which the threads of a block run
  std::string last_report() const;                 // "" if there was none
  // `abort`: a report ends the program. `error`: the context fails with CUDA_ERROR_ILLEGAL_ADDRESS, if the program can
  // continue at all.
  void set_report_mode(OnReport mode);
  // Sets whether the order of accesses is checked; if kernels are not instrumented, only for copies and fills.
  void set_check(bool on);

  // Starts to count what the kernels do that the interpreter of PTX executes, with empty caches; kernels that the
  // system's compiler made are not counted. Counters of the launches since then, in the order of execution.
  void start_profile(const ProfiledDevice& device);
  void stop_profile();
  std::vector<KernelProfile> profiles() const;

 private:
#define CATENA_MEMBER(symbol, field, ...) std::add_pointer_t<__VA_ARGS__> field##_ = nullptr;
  CATENA_CONTROL_FUNCTIONS(CATENA_MEMBER)
#undef CATENA_MEMBER
};

}  // namespace cuda_device
