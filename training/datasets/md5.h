// MD5 (RFC 1321), which names files of the download cache. It protects against nothing. Internal to this folder.
#pragma once

#include <string>
#include <string_view>

namespace training::datasets::internal {

std::string md5_hex(std::string_view text);  // 32 lower-case digits

}  // namespace training::datasets::internal
