// Caches of data sets in get_dataset_root(), shared with Chainer.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/training/dataset.h>

namespace training {

// Returns the path of the cached file of an address: <root>/_dl_cache/<MD5 of the address>. An existing file is
// returned at once, without a network, so files may be put there by hand. Otherwise it is downloaded, with a message on
// standard error. Several processes may call this at once. RuntimeError if the folder cannot be created. IOError, with
// the address and the path of the missing file, if the download fails, if CATENA_OFFLINE is set, or if Catena was built
// without curl.
CATENA_EXPORT std::string cached_download(const std::string& url);

// The same for a file with several addresses. The name of the cached file is that of `url`. The content comes from the
// first of `mirrors` that has it and for which verify(path of the content) does not throw.
namespace datasets::internal {
std::string cached_download(const std::string& url, const std::vector<std::string>& mirrors,
                            const catena::Function<void(const std::string& path)>& verify);
}  // namespace datasets::internal

namespace internal {
CATENA_EXPORT bool is_cached(const std::string& path);
// Calls create(temporary path with the same file name), and moves the file to `path` unless another process has done
// so.
CATENA_EXPORT void create_cached(const std::string& path,
                                 const catena::Function<void(const std::string& temporary)>& create);
}  // namespace internal

// Returns loader(path) if the file exists. Otherwise calls creator(temporary path), which writes the file and returns
// its content, moves the file to `path` unless another process was faster, and returns the content.
//
//   const Array words = cache_or_load_file(path, parse_and_save, load);
template <class Creator, class Loader>
auto cache_or_load_file(const std::string& path, Creator&& creator, Loader&& loader)
    -> std::invoke_result_t<Loader&, const std::string&> {
  if (internal::is_cached(path)) return loader(path);
  std::optional<std::invoke_result_t<Loader&, const std::string&>> content;
  internal::create_cached(path, [&](const std::string& temporary) { content.emplace(creator(temporary)); });
  return std::move(*content);
}

}  // namespace training
