// Tar archives (POSIX ustar), uncompressed or compressed by gzip. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <catena/kernels/base/function.h>

namespace training::datasets::internal {

// Calls take(name, content) for the members with these names, in the order of the archive. The archive is not trusted:
// checksums are verified, and memory grows with the bytes read. IOError if the file cannot be read; ValueError, with
// its name, if it is no archive, is truncated, or does not have one of the members.
void read_tar(std::string_view op, const std::string& path, const std::vector<std::string>& names,
              const catena::Function<void(const std::string& name, const std::string& content)>& take);

}  // namespace training::datasets::internal
