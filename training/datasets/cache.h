// The caches of data sets below get_dataset_root(), shared with Chainer.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <catena/kernels/base/function.h>
#include <catena/training/dataset.h>

namespace training {

// The path of the file of that address: <root>/_dl_cache/<MD5 of the address>. A file that is there is returned at
// once, without a network, so files may be put there by hand; else it is downloaded, which is announced on the standard
// error. Several processes may do so at once. RuntimeError when the folder cannot be created; IOError naming the
// address and the path to fill when the download fails, when CATENA_OFFLINE is set, or when Catena was built without
// curl.
CATENA_EXPORT std::string cached_download(const std::string& url);

// The same for a file that has another address, too: the name of the cached file is that of `url`, the content comes
// from the first of `mirrors` that has it and at which verify(path of the content) does not throw.
namespace datasets::internal {
std::string cached_download(const std::string& url, const std::vector<std::string>& mirrors,
                            const catena::Function<void(const std::string& path)>& verify);
}  // namespace datasets::internal

namespace internal {
CATENA_EXPORT bool is_cached(const std::string& path);
// Calls create(temporary path with the same file name), and moves the file to `path` unless another process has.
CATENA_EXPORT void create_cached(const std::string& path,
                                 const catena::Function<void(const std::string& temporary)>& create);
}  // namespace internal

// loader(path) if the file exists. Else creator(temporary path), which writes the file and returns its content; the
// file is then moved to `path`, unless another process was faster, and the content is returned.
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
