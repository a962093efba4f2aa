#include <dlfcn.h>
#include <limits.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <catena/ndarray/compile/disk_cache.h>
#include <catena/ndarray/compile/private_files.h>

namespace nd::cuda {
namespace {

// Returns share/catena/kernels of the prefix in which this library lies; empty in a program that contains the library.
std::string folder_of_prefix() {
  Dl_info info{};
  link_map* library = nullptr;
  char folder[PATH_MAX];
  // The linker records the absolute folder, whereas info.dli_fname may be relative to a former working folder.
  if (dladdr1(reinterpret_cast<const void*>(&folder_of_prefix), &info, reinterpret_cast<void**>(&library),
              RTLD_DL_LINKMAP) == 0 ||
      library->l_name[0] == '\0' || dlinfo(library, RTLD_DI_ORIGIN, folder) != 0)
    return {};
  std::error_code error;
  const std::filesystem::path path =
      std::filesystem::weakly_canonical(std::string(folder) + "/" CATENA_SHARED_FOLDER, error);
  return error ? std::string() : path.string();
}

}  // namespace

std::vector<std::string> shared_folders() {
  static const std::string& of_prefix = *new std::string(folder_of_prefix());
  const char* chosen = std::getenv("CATENA_SHARED_KERNELS");
  std::string_view rest = chosen != nullptr ? chosen : "";
  if (rest == "off") return {};
  std::vector<std::string> folders;
  if (rest.empty() && !of_prefix.empty()) folders.push_back(of_prefix);
  while (!rest.empty()) {
    const std::string_view path = rest.substr(0, rest.find(':'));
    if (!path.empty()) folders.push_back(compile::absolute(std::string(path)));
    rest.remove_prefix(std::min(path.size() + 1, rest.size()));
  }
  return folders;
}

}  // namespace nd::cuda
