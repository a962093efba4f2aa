// Archives of tar (POSIX ustar), plain or compressed by gzip. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/function.h>

namespace training::datasets::internal {

// Calls take(name, content) for those members whose names are given, in the order of the archive. The archive is not
// trusted: checksums are compared, and memory grows with the bytes that are read. IOError when the file cannot be read;
// ValueError naming it when it is no archive, is cut off, or lacks one of the members.
void read_tar(std::string_view op, const std::string& path, const std::vector<std::string>& names,
              const catena::Function<void(const std::string& name, const std::string& content)>& take);

}  // namespace training::datasets::internal
