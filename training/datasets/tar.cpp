#include <catena/training/datasets/tar.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/training/datasets/gzip_source.h>

namespace training::datasets::internal {

using catena::check;
using catena::ValueError;

namespace {

constexpr std::size_t kBlock = 512;
using Block = std::array<char, kBlock>;

// Returns an octal number that ends with a space or a zero byte.
std::uint64_t octal(const GzipSource& source, const Block& block, std::size_t at, std::size_t length) {
  std::uint64_t value = 0;
  std::size_t i = at;
  while (i < at + length && block[i] == ' ') ++i;
  for (; i < at + length && block[i] != ' ' && block[i] != '\0'; ++i) {
    check<ValueError>(block[i] >= '0' && block[i] <= '7' && value < std::uint64_t(1) << 60, source.context(),
                      "it is no tar archive: a number of a header has other characters than digits of base 8");
    value = value * 8 + static_cast<std::uint64_t>(block[i] - '0');
  }
  return value;
}

std::string field(const Block& block, std::size_t at, std::size_t length) {
  return {block.data() + at, ::strnlen(block.data() + at, length)};
}

struct Member {
  std::string name;
  std::uint64_t size = 0;
  bool is_file = false;
};

// Returns false at the end of the archive, a block of zeros.
bool read_header(GzipSource& source, Member& member) {
  Block block{};
  source.fill(block.data(), kBlock, "the header of a member");
  if (std::all_of(block.begin(), block.end(), [](char c) { return c == '\0'; })) return false;
  constexpr std::size_t kChecksum = 148, kChecksumLength = 8;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i)
    sum += i >= kChecksum && i < kChecksum + kChecksumLength ? ' ' : static_cast<unsigned char>(block[i]);
  check<ValueError>(octal(source, block, kChecksum, kChecksumLength) == sum, source.context(),
                    "it is no tar archive: the checksum of a header is wrong");
  member.name = field(block, 0, 100);
  if (field(block, 257, 5) == "ustar")
    if (const std::string prefix = field(block, 345, 155); !prefix.empty()) member.name = prefix + '/' + member.name;
  member.size = octal(source, block, 124, 12);
  member.is_file = block[156] == '0' || block[156] == '\0';
  return true;
}

// Reads the blocks of a member; returns its content if `keep`.
std::string read_content(GzipSource& source, const Member& member, bool keep) {
  std::string content;
  const std::uint64_t padded = (member.size + kBlock - 1) / kBlock * kBlock;
  std::string chunk;
  for (std::uint64_t done = 0; done < padded; done += chunk.size()) {
    chunk.resize(static_cast<std::size_t>(std::min<std::uint64_t>(padded - done, 1 << 20)));
    source.fill(chunk.data(), chunk.size(), "its member " + member.name);
    if (keep) content += chunk;
  }
  content.resize(keep ? static_cast<std::size_t>(member.size) : 0);
  return content;
}

}  // namespace

void read_tar(std::string_view op, const std::string& path, const std::vector<std::string>& names,
              const catena::Function<void(const std::string& name, const std::string& content)>& take) {
  GzipSource source(op, path);
  std::vector<std::string> missing = names;
  std::uint64_t total = 0;
  Member member;
  while (!missing.empty() && read_header(source, member)) {
    total += member.size;
    check<ValueError>(member.size <= source.limit() && total <= source.limit(), source.context(), "its member ",
                      member.name, " claims ", member.size, " bytes; all of a file of its size may hold ",
                      source.limit());
    const auto wanted = std::find(missing.begin(), missing.end(), member.name);
    const bool keep = member.is_file && wanted != missing.end();
    const std::string content = read_content(source, member, keep);
    if (!keep) continue;
    take(member.name, content);
    missing.erase(wanted);
  }
  check<ValueError>(missing.empty(), source.context(), "it has no member ", missing.empty() ? "" : missing.front());
}

}  // namespace training::datasets::internal
