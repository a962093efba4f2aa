// Download of data set files. Internal to this folder.
#pragma once

#include <cstddef>
#include <string>

#include <catena/kernels/base/function.h>

namespace training::datasets::internal {

// Downloads `url` to `path`, at most `limit` bytes. The file appears only after it is complete and verify(temporary
// path) has returned. Returns false, with the reason in `why`, without a network, without curl, or if CATENA_OFFLINE is
// set.
bool download(const std::string& url, const std::string& path, std::size_t limit,
              const catena::Function<void(const std::string& temporary)>& verify, std::string& why);

}  // namespace training::datasets::internal
