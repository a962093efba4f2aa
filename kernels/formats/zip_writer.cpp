#include <zlib.h>

#include <algorithm>
#include <memory>
#include <unordered_set>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/zip.h>
#include <catena/kernels/formats/zip_format.h>

namespace catena {
namespace {

using namespace zip_format;

// The parameters of Python's zipfile, so that archives equal NumPy's byte for byte if zlib compresses in the same way.
constexpr std::uint64_t kLimit = 0x7fffffff;  // larger values are written to zip64 fields
constexpr std::uint16_t kVersion = 20, kVersion64 = 45;
constexpr std::uint16_t kMadeByUnix = 3 << 8;
constexpr std::uint16_t kDate = 1 << 5 | 1;  // 1980-01-01
constexpr std::uint32_t kRegularFile = 0600u << 16;
constexpr std::size_t kOutputSize = 64 * 1024;

struct Entry {
  std::string name;
  std::uint16_t method = 0;
  std::uint32_t crc = 0;
  std::uint64_t size = 0, compressed_size = 0, offset = 0;

  bool large() const { return size > kLimit || compressed_size > kLimit; }
  std::uint16_t flags() const {
    const bool ascii =
        std::all_of(name.begin(), name.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    return ascii ? 0 : kFlagUtf8;
  }
  // Writes the fields from "version needed" to "uncompressed size", which local header and directory entry share.
  void put_common(std::string& r, bool in64, bool version64) const {
    put<std::uint16_t>(r, version64 ? kVersion64 : kVersion);
    put<std::uint16_t>(r, flags());
    put<std::uint16_t>(r, method);
    put<std::uint16_t>(r, 0);
    put<std::uint16_t>(r, kDate);
    put<std::uint32_t>(r, crc);
    put<std::uint32_t>(r, in64 ? kIn64 : static_cast<std::uint32_t>(compressed_size));
    put<std::uint32_t>(r, in64 ? kIn64 : static_cast<std::uint32_t>(size));
    put<std::uint16_t>(r, static_cast<std::uint16_t>(name.size()));
  }
  // The sizes are unknown when the header is first written, so the zip64 field is always present.
  std::string local_header() const {
    std::string r;
    put<std::uint32_t>(r, kLocalSignature);
    put_common(r, large(), large());
    put<std::uint16_t>(r, 20);
    r += name;
    put<std::uint16_t>(r, kExtra64);
    put<std::uint16_t>(r, 16);
    put<std::uint64_t>(r, size);
    put<std::uint64_t>(r, compressed_size);
    return r;
  }
  std::string central_header() const {
    const bool far = offset > kLimit;
    std::string values;
    if (large()) put<std::uint64_t>(values, size), put<std::uint64_t>(values, compressed_size);
    if (far) put<std::uint64_t>(values, offset);
    std::string r;
    put<std::uint32_t>(r, kCentralSignature);
    put<std::uint16_t>(r, static_cast<std::uint16_t>(kMadeByUnix | (values.empty() ? kVersion : kVersion64)));
    put_common(r, large(), !values.empty());
    put<std::uint16_t>(r, static_cast<std::uint16_t>(values.empty() ? 0 : values.size() + 4));
    put<std::uint16_t>(r, 0);  // comment
    put<std::uint16_t>(r, 0);  // volume
    put<std::uint16_t>(r, 0);  // internal attributes
    put<std::uint32_t>(r, kRegularFile);
    put<std::uint32_t>(r, far ? kIn64 : static_cast<std::uint32_t>(offset));
    r += name;
    if (values.empty()) return r;
    put<std::uint16_t>(r, kExtra64);
    put<std::uint16_t>(r, static_cast<std::uint16_t>(values.size()));
    return r + values;
  }
};

}  // namespace

class ZipWriter::Content final : public ByteSink {
 public:
  explicit Content(ByteSink& out) : out_(out), buffer_(kOutputSize) {}
  ~Content() override {
    if (deflating_) deflateEnd(&z_);
  }

  void begin(std::string_view name, ZipMethod method) {
    check<RuntimeError>(!open_ && !finished_, "ZipWriter::begin",
                        finished_ ? "the archive is finished" : "a member is still open");
    check<ValueError>(!name.empty() && name.size() <= 0xffff && name.find('\0') == std::string_view::npos,
                      "ZipWriter::begin", "a member name of ", name.size(),
                      " bytes is empty, longer than 65535 or contains a NUL byte");
    check<ValueError>(names_.emplace(name).second, "ZipWriter::begin", "there is a member \"", name, "\" already");
    entry_ = Entry{std::string(name), static_cast<std::uint16_t>(method), 0, 0, 0, written_};
    open_ = true;
    held_.clear();
    if (out_.can_patch()) emit(entry_.local_header());
    if (method != ZipMethod::deflated) return;
    z_ = z_stream{};
    const int status = deflateInit2(&z_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
    check<OutOfMemoryError>(status == Z_OK, "ZipWriter::begin", "zlib cannot allocate its state");
    deflating_ = true;
  }

  void write(const void* from, std::size_t n) override {
    check<RuntimeError>(open_, "ZipWriter", "content is written while no member is open");
    if (n == 0) return;
    const auto* bytes = static_cast<const Bytef*>(from);
    entry_.crc = static_cast<std::uint32_t>(crc32_z(entry_.crc, bytes, n));
    entry_.size += n;
    if (!deflating_) return put_content(from, n);
    while (n > 0) {
      const std::size_t part = std::min<std::size_t>(n, 1u << 30);
      deflate_all(bytes, part, Z_NO_FLUSH);
      bytes += part;
      n -= part;
    }
  }

  void end() {
    check<RuntimeError>(open_, "ZipWriter::end", "no member is open");
    if (deflating_) {
      deflate_all(nullptr, 0, Z_FINISH);
      deflateEnd(&z_);
      deflating_ = false;
    }
    const std::string header = entry_.local_header();
    if (out_.can_patch()) {
      out_.patch(entry_.offset, header.data(), header.size());
    } else {
      emit(header);
      emit(held_);
    }
    open_ = false;
    directory_ += entry_.central_header();
    ++count_;
  }

  void finish() {
    check<RuntimeError>(!open_ && !finished_, "ZipWriter::finish",
                        finished_ ? "the archive is finished" : "a member is still open");
    finished_ = true;
    const std::uint64_t offset = written_, size = directory_.size();
    emit(directory_);
    std::string r;
    if (count_ > 0xffff || offset > kLimit || size > kLimit) put_end64(r, offset, size);
    const auto count = static_cast<std::uint16_t>(std::min<std::uint64_t>(count_, 0xffff));
    put<std::uint32_t>(r, kEndSignature);
    put<std::uint32_t>(r, 0);  // volume, volume of the directory
    put<std::uint16_t>(r, count);
    put<std::uint16_t>(r, count);
    put<std::uint32_t>(r, static_cast<std::uint32_t>(std::min<std::uint64_t>(size, kIn64)));
    put<std::uint32_t>(r, static_cast<std::uint32_t>(std::min<std::uint64_t>(offset, kIn64)));
    put<std::uint16_t>(r, 0);  // comment
    emit(r);
  }

 private:
  void put_end64(std::string& r, std::uint64_t offset, std::uint64_t size) const {
    put<std::uint32_t>(r, kEnd64Signature);
    put<std::uint64_t>(r, kEnd64Size - 12);
    put<std::uint16_t>(r, kVersion64);
    put<std::uint16_t>(r, kVersion64);
    put<std::uint64_t>(r, 0);  // volumes
    put<std::uint64_t>(r, count_);
    put<std::uint64_t>(r, count_);
    put<std::uint64_t>(r, size);
    put<std::uint64_t>(r, offset);
    put<std::uint32_t>(r, kLocator64Signature);
    put<std::uint32_t>(r, 0);
    put<std::uint64_t>(r, offset + size);
    put<std::uint32_t>(r, 1);
  }

  void deflate_all(const Bytef* from, std::size_t n, int flush) {
    z_.next_in = const_cast<Bytef*>(from);
    z_.avail_in = static_cast<uInt>(n);
    do {
      z_.next_out = buffer_.data();
      z_.avail_out = static_cast<uInt>(buffer_.size());
      const int status = deflate(&z_, flush);
      check<RuntimeError>(status != Z_STREAM_ERROR, "ZipWriter", "zlib refuses to compress");
      put_content(buffer_.data(), buffer_.size() - z_.avail_out);
    } while (z_.avail_out == 0);
  }

  void put_content(const void* from, std::size_t n) {
    entry_.compressed_size += n;
    if (!out_.can_patch()) {
      held_.append(static_cast<const char*>(from), n);
    } else if (n > 0) {
      out_.write(from, n);
      written_ += n;
    }
  }

  void emit(const std::string& bytes) {
    out_.write(bytes.data(), bytes.size());
    written_ += bytes.size();
  }

  ByteSink& out_;
  std::vector<Bytef> buffer_;
  std::string held_, directory_;
  std::unordered_set<std::string> names_;
  Entry entry_;
  std::uint64_t written_ = 0, count_ = 0;
  z_stream z_{};
  bool open_ = false, deflating_ = false, finished_ = false;
};

ZipWriter::ZipWriter(ByteSink& out) : content_(std::make_unique<Content>(out)) {}
ZipWriter::~ZipWriter() = default;

ByteSink& ZipWriter::begin(std::string_view name, ZipMethod method) {
  content_->begin(name, method);
  return *content_;
}

void ZipWriter::end() { content_->end(); }
void ZipWriter::finish() { content_->finish(); }

}  // namespace catena
