#include <catena/training/datasets/idx.h>

#include <algorithm>
#include <array>

#include <catena/kernels/base/error.h>
#include <catena/training/datasets/gzip_source.h>

namespace training::datasets {

using catena::check;
using catena::ValueError;
using internal::GzipSource;

namespace {

catena::Shape read_header(GzipSource& source, std::uint64_t& total) {
  std::array<unsigned char, 4> magic{};
  source.fill(magic.data(), magic.size(), "its header");
  check<ValueError>(magic[0] == 0 && magic[1] == 0 && magic[3] >= 1, source.context(),
                    "it is no IDX file: it begins with the bytes ", int(magic[0]), ' ', int(magic[1]), ' ',
                    int(magic[2]), ' ', int(magic[3]));
  check<ValueError>(magic[2] == 0x08, source.context(), "its element type is ", int(magic[2]),
                    ", but only unsigned bytes (8) are read");
  check<ValueError>(magic[3] <= catena::kMaxRank, source.context(), "it has ", int(magic[3]), " dimensions, more than ",
                    catena::kMaxRank);
  catena::Shape shape = catena::Shape::filled(magic[3], 0);
  total = 1;
  for (int axis = 0; axis < shape.size(); ++axis) {
    std::array<unsigned char, 4> b{};
    source.fill(b.data(), b.size(), "its header");
    const std::uint64_t length =
        std::uint64_t(b[0]) << 24 | std::uint64_t(b[1]) << 16 | std::uint64_t(b[2]) << 8 | b[3];
    shape[axis] = static_cast<std::int64_t>(length);
    check<ValueError>(length == 0 || total <= source.limit() / length, source.context(), "its header claims the shape ",
                      shape, ", more than the ", source.limit(), " bytes that a file of its size may hold");
    total *= length;
  }
  return shape;
}

}  // namespace

IdxArray read_idx(const std::string& path) {
  GzipSource source("read_idx", path);
  IdxArray result;
  std::uint64_t total = 0;
  result.shape = read_header(source, total);
  constexpr std::size_t kChunk = 1 << 20;
  while (result.data.size() < total) {
    const std::size_t have = result.data.size(), wanted = std::min<std::uint64_t>(kChunk, total - have);
    result.data.resize(have + wanted);
    check<ValueError>(source.read(result.data.data() + have, wanted) == wanted, source.context(),
                      "the file ends before the ", total, " bytes of its shape ", result.shape);
  }
  char extra = 0;
  check<ValueError>(source.read(&extra, 1) == 0, source.context(), "it goes on after the ", total,
                    " bytes of its shape ", result.shape);
  return result;
}

}  // namespace training::datasets
