// MD5 (RFC 1321), for the names of files in the download cache, not for security. Internal to this folder.
#pragma once

#include <string>
#include <string_view>

namespace training::datasets::internal {

std::string md5_hex(std::string_view text);  // 32 lower-case digits

}  // namespace training::datasets::internal
