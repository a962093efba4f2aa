// Loads shared objects from memory, without a file, so that neither the disk space nor the mount options of a cache
// matter.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/ndarray/cpu/host_compiler.h>

namespace nd::cpu {
namespace {

// Returns a path of the descriptor that no earlier module had: the dynamic linker takes equal paths for the same
// object, and descriptors are reused. "//" and "/./" do not change a path; they encode the binary digits of a number.
std::string unique_name(int fd) {
  static std::atomic<std::uint32_t> modules{0};
  std::string name = "/proc/self/fd";
  for (std::uint32_t number = ++modules; number != 0; number /= 2) name += number % 2 == 0 ? "//" : "/./";
  return name + std::to_string(fd);
}

std::string last_error() {
  const char* text = ::dlerror();
  return text != nullptr ? text : "unknown";
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

HostModule::~HostModule() { ::dlclose(handle_); }
void* HostModule::symbol(const std::string& name) const noexcept { return ::dlsym(handle_, name.c_str()); }
void* HostModule::required(std::string_view what, const std::string& name) const {
  void* const address = symbol(name);
  catena::check<catena::RuntimeError>(address != nullptr, what, "the compiled object has no symbol ", name);
  return address;
}
std::size_t HostModule::size_of(const void* symbol) const noexcept {
  Dl_info info;
  void* entry = nullptr;
  return ::dladdr1(symbol, &info, &entry, RTLD_DL_SYMENT) != 0 && entry != nullptr
             ? static_cast<const ElfW(Sym)*>(entry)->st_size
             : 0;
}

std::shared_ptr<const HostModule> HostModule::load_file(const std::string& path, std::string* reason) {
  void* const handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle != nullptr) return std::make_shared<const HostModule>(handle);
  *reason = last_error();
  return nullptr;
}

std::shared_ptr<const HostModule> HostModule::load_bytes(std::string_view object, std::string* reason) {
  catena::reserve_standard_descriptors();
  const int fd = ::memfd_create("compiled kernel", MFD_CLOEXEC);
  if (fd < 0) {
    *reason = std::strerror(errno);
    return nullptr;
  }
  std::shared_ptr<const HostModule> module;
  if (write_all(fd, object)) module = load_file(unique_name(fd), reason);
  else *reason = std::strerror(errno);
  ::close(fd);
  return module;
}

}  // namespace nd::cpu
