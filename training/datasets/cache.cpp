#include <catena/training/datasets/cache.h>

#include <filesystem>
#include <limits>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/cache.h>
#include <catena/training/datasets/download.h>
#include <catena/training/datasets/md5.h>

namespace training {

namespace fs = std::filesystem;
using catena::FileLock;

std::string datasets::internal::cached_download(const std::string& url, const std::vector<std::string>& mirrors,
                                                const catena::Function<void(const std::string& path)>& verify) {
  const fs::path folder = fs::path(get_dataset_root()) / "_dl_cache";
  catena::make_folder("cached_download", folder.string());
  const std::string path = (folder / md5_hex(url)).string();
  {
    const FileLock lock((folder / "_dl_lock").string());
    if (fs::exists(path)) return path;
  }
  std::string why;
  for (const std::string& mirror : mirrors) {
    std::optional<FileLock> lock;  // held from the end of the transfer until the file has its final name
    const auto take = [&](const std::string& temporary) {
      if (verify) verify(temporary);
      lock.emplace((folder / "_dl_lock").string());
    };
    if (download(mirror, path, std::numeric_limits<std::size_t>::max(), take, why)) return path;
  }
  catena::fail<catena::IOError>("cached_download", "cannot download ", mirrors.back(), ": ", why,
                                " (get the file elsewhere and put ", "it at \"", path, "\")");
}

std::string cached_download(const std::string& url) { return datasets::internal::cached_download(url, {url}, {}); }

bool internal::is_cached(const std::string& path) { return catena::is_cached(path); }

void internal::create_cached(const std::string& path, const catena::Function<void(const std::string&)>& create) {
  catena::create_cached("cache_or_load_file", path, create);
}

}  // namespace training
