#include <catena/training/datasets/idx.h>

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/byte_stream.h>

namespace training::datasets {

using catena::check;
using catena::IOError;
using catena::ValueError;

namespace {

constexpr std::uint64_t kAlwaysAllowed = std::uint64_t(16) << 20, kMaxRatio = 100;

// zlib's reader passes uncompressed files through unchanged.
class GzipSource {
 public:
  explicit GzipSource(const std::string& path) : context_(catena::io_context("read_idx", path)) {
    struct stat status {};
    check<IOError>(::stat(path.c_str(), &status) == 0, context_, "cannot open: ", std::strerror(errno));
    check<IOError>(S_ISREG(status.st_mode), context_, "it is no regular file");
    limit_ = std::max(kAlwaysAllowed, kMaxRatio * static_cast<std::uint64_t>(status.st_size));
    file_.reset(gzopen(path.c_str(), "rb"));
    check<IOError>(file_ != nullptr, context_, "cannot open: ", std::strerror(errno));
    gzbuffer(file_.get(), 1 << 16);
  }

  const std::string& context() const { return context_; }
  std::uint64_t limit() const { return limit_; }

  // Reads up to n bytes; fewer only at the end of the file.
  std::size_t read(void* to, std::size_t n) {
    const int got = gzread(file_.get(), to, static_cast<unsigned>(n));
    int code = Z_OK;
    const char* const message = gzerror(file_.get(), &code);
    check<ValueError>(got >= 0 && (code == Z_OK || code == Z_STREAM_END), context_,
                      "the data are damaged or cut off: ", code == Z_ERRNO ? std::strerror(errno) : message);
    return static_cast<std::size_t>(got);
  }
  void fill(void* to, std::size_t n) {
    check<ValueError>(read(to, n) == n, context_, "the file ends within its header");
  }

 private:
  struct Close {
    void operator()(gzFile f) const { gzclose_r(f); }
  };
  std::string context_;
  std::unique_ptr<gzFile_s, Close> file_;
  std::uint64_t limit_ = 0;
};

catena::Shape read_header(GzipSource& source, std::uint64_t& total) {
  std::array<unsigned char, 4> magic{};
  source.fill(magic.data(), magic.size());
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
    source.fill(b.data(), b.size());
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
  GzipSource source(path);
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
