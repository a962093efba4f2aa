#include <catena/tests/support/cuda_device/control.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include <catena/kernels/base/error.h>

namespace cuda_device {
namespace {

// Returns the driver library of a program on the software device; null if the program does not use it.
void* library() {
  const char* folder = std::getenv("CATENA_CUDA_LIBRARIES");
  if (folder == nullptr || *folder == '\0') return nullptr;
  static void* const handle = dlopen((std::string(folder) + "/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  return handle;
}

}  // namespace

bool Control::available() { return library() != nullptr && dlsym(library(), "software_cuda_fail") != nullptr; }

Control::Control() {
  catena::check<catena::RuntimeError>(available(), "Control",
                                      "CATENA_CUDA_LIBRARIES names no folder of a software CUDA device");
#define CATENA_FIND(symbol, field, ...)                                       \
  field##_ = reinterpret_cast<decltype(field##_)>(dlsym(library(), #symbol)); \
  catena::check<catena::RuntimeError>(field##_ != nullptr, "Control",         \
                                      "the software CUDA device has no function " #symbol);
  CATENA_CONTROL_FUNCTIONS(CATENA_FIND)
#undef CATENA_FIND
}

void Control::fail(const std::string& entry, int nth, int code, bool sticky) {
  catena::check<catena::ValueError>(fail_(entry.c_str(), nth, code, sticky) != 0, "fail", "no call ", nth,
                                    " of an entry point ", entry);
}
void Control::clear_faults() { clear_faults_(); }

std::uint64_t Control::calls(const std::string& entry) const {
  std::uint64_t count = 0;
  catena::check<catena::ValueError>(calls_(entry.c_str(), &count) != 0, "calls", "no entry point ", entry);
  return count;
}

std::vector<Control::Launch> Control::launches() const {
  std::vector<ControlLaunch> raw(launches_(nullptr, 0));
  raw.resize(std::min(raw.size(), launches_(raw.data(), raw.size())));
  std::vector<Launch> result;
  for (const ControlLaunch& l : raw)
    result.push_back(
        {l.kernel, {l.grid[0], l.grid[1], l.grid[2]}, {l.block[0], l.block[1], l.block[2]}, l.stream, l.device});
  return result;
}

std::uint64_t Control::atomics() const { return atomics_(); }

std::vector<std::string> Control::synchronisations() const {
  std::vector<const char*> names(synchronisations_(nullptr, 0));
  names.resize(std::min(names.size(), synchronisations_(names.data(), names.size())));
  return {names.begin(), names.end()};
}

void Control::reset_records() { reset_records_(); }

void Control::set_memory(int device, std::size_t bytes) {
  catena::check<catena::ValueError>(set_memory_(device, bytes) != 0, "set_memory", "there is no device ", device);
}

void Control::set_order(ThreadOrder order) { set_order_(static_cast<int>(order)); }

std::string Control::last_report() const {
  std::string text(last_report_(nullptr, 0), '\0');
  text.resize(std::min(text.size(), last_report_(text.data(), text.size())));
  return text;
}

void Control::set_report_mode(OnReport mode) { set_report_mode_(static_cast<int>(mode)); }
void Control::set_check(bool on) { set_check_(on); }

void Control::start_profile(const ProfiledDevice& device) { profile_(&device); }
void Control::stop_profile() { profile_(nullptr); }
std::vector<KernelProfile> Control::profiles() const {
  std::vector<KernelProfile> all(profiles_(nullptr, 0));
  all.resize(std::min(all.size(), profiles_(all.data(), all.size())));
  return all;
}

}  // namespace cuda_device
