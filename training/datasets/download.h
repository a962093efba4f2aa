// Fetching the files of data sets. Internal to this folder.
#pragma once

#include <functional>
#include <string>

namespace training::datasets::internal {

// Fetches `url` into the file `path`, which appears only when it is complete and `verify` (given the path of the
// temporary file) accepts it by not throwing. False, with the reason in `why`: there is no network, no curl, or
// CATENA_OFFLINE is set. At most `limit` bytes.
bool download(const std::string& url, const std::string& path, std::size_t limit,
              const std::function<void(const std::string& temporary)>& verify, std::string& why);

}  // namespace training::datasets::internal
