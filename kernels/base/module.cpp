#include <catena/kernels/base/module.h>

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <catena/kernels/base/descriptors.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/parallel.h>

namespace catena::internal {

void* load_module(const char* file, const char* function, const void* inside) {
  Dl_info info{};
  link_map* library = nullptr;
  char folder[PATH_MAX];
  // Uses the folder as the linker recorded it when it loaded the library, because info.dli_fname may be relative to a
  // former working directory. The linker records none for the program itself, whose name is empty.
  check<RuntimeError>(dladdr1(inside, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) != 0 &&
                          library->l_name[0] != '\0' && dlinfo(library, RTLD_DI_ORIGIN, folder) == 0,
                      "load_module", file, " is needed by code that is in no shared library");
  const std::string path = std::string(folder) + "/" + file;
  const auto must = [&](const void* found) {
    if (found != nullptr) return;
    const char* const error = dlerror();
    const std::string reason = error != nullptr ? error : "no reason given";
    const std::string what = catena::concat("load_module: ", path, ", which ", info.dli_fname,
                                            " needs from here on, cannot be used: ", reason);
    // The linker gives the cause of a failed mapping, except where it is memory.
    if (reason.find(std::strerror(ENOMEM)) != std::string::npos ||
        reason.ends_with("failed to map segment from shared object"))
      throw OutOfMemoryError(what);
    throw RuntimeError(what);
  };
  reserve_standard_descriptors();  // the library may open files
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  must(module);
  void* const address = dlsym(module, function);
  must(address);
  use_openmp_of(module);
  return address;
}

bool can_map(std::size_t bytes) noexcept {
  void* const all = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return all != MAP_FAILED && munmap(all, bytes) == 0;
}

bool has_space_for_onednn(int threads) noexcept {
  // glibc's malloc maps 128 MB when a thread first uses it, and keeps an aligned half of them.
  constexpr std::size_t kMegabyte = std::size_t(1) << 20, kOfMalloc = 128 * kMegabyte, kOfOnednn = 32 * kMegabyte;
  rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) return true;
  return can_map(std::size_t(threads) * kOfOnednn + std::size_t(threads - 1) * kOfMalloc);
}

}  // namespace catena::internal
