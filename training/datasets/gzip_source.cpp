#include <catena/training/datasets/gzip_source.h>

#include <sys/stat.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/byte_stream.h>

namespace training::datasets::internal {

using catena::check;
using catena::IOError;
using catena::ValueError;

namespace {
constexpr std::uint64_t kAlwaysAllowed = std::uint64_t(16) << 20, kMaxRatio = 100;
}  // namespace

// zlib's reader also reads uncompressed files.
struct GzipSource::Content {
  gzFile file = nullptr;
  ~Content() {
    if (file != nullptr) gzclose_r(file);
  }
};

GzipSource::GzipSource(std::string_view op, const std::string& path)
    : context_(catena::io_context(op, path)), content_(std::make_unique<Content>()) {
  struct stat status {};
  check<IOError>(::stat(path.c_str(), &status) == 0, context_, "cannot open: ", std::strerror(errno));
  check<IOError>(S_ISREG(status.st_mode), context_, "it is no regular file");
  limit_ = std::max(kAlwaysAllowed, kMaxRatio * static_cast<std::uint64_t>(status.st_size));
  content_->file = gzopen(path.c_str(), "rb");
  check<IOError>(content_->file != nullptr, context_, "cannot open: ", std::strerror(errno));
  gzbuffer(content_->file, 1 << 16);
}
GzipSource::~GzipSource() = default;

std::size_t GzipSource::read(void* to, std::size_t n) {
  const int got = gzread(content_->file, to, static_cast<unsigned>(n));
  int code = Z_OK;
  const char* const message = gzerror(content_->file, &code);
  check<ValueError>(got >= 0 && (code == Z_OK || code == Z_STREAM_END), context_,
                    "the data are damaged or cut off: ", code == Z_ERRNO ? std::strerror(errno) : message);
  return static_cast<std::size_t>(got);
}

void GzipSource::fill(void* to, std::size_t n, std::string_view what) {
  check<ValueError>(read(to, n) == n, context_, "the file ends within ", what);
}

}  // namespace training::datasets::internal
