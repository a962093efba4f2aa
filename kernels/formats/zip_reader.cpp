#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <unordered_map>

#include <catena/kernels/base/error.h>
#include <catena/kernels/formats/byte_stream.h>
#include <catena/kernels/formats/zip.h>
#include <catena/kernels/formats/zip_format.h>

namespace catena {
namespace {

using namespace zip_format;

constexpr std::uint64_t kMaxDeflateRatio = 1032;  // deflate encodes at most 258 bytes in 2 bits
constexpr std::size_t kMaxComment = 0xffff;
constexpr std::size_t kInputSize = 64 * 1024;

// Names in error messages: bytes that are not printable ASCII become '?'.
std::string printable(std::string_view name) {
  std::string s(name.substr(0, 200));
  for (char& c : s)
    if (c < ' ' || c > '~') c = '?';
  return s;
}

std::string member_context(const std::string& archive, const ZipMember& m) {
  return concat(archive, " member \"", printable(m.name), '"');
}

struct Directory {
  std::uint64_t count, offset, size;
  std::uint64_t end;  // offset at which the records behind the directory begin
};

class DirectoryFinder {
 public:
  DirectoryFinder(const std::string& context, const RandomAccess& archive) : context_(context), archive_(archive) {}

  Directory find() {
    const std::uint64_t at = find_end_record();
    std::byte r[kEndSize];
    archive_.read_at(at, r, sizeof(r));
    const bool one_volume = get<std::uint16_t>(r + 4) == get<std::uint16_t>(r + 6);
    check<ValueError>(one_volume && get<std::uint16_t>(r + 8) == get<std::uint16_t>(r + 10), context_,
                      "zip archives of several volumes are not supported");
    Directory d{get<std::uint16_t>(r + 10), get<std::uint32_t>(r + 16), get<std::uint32_t>(r + 12), at};
    // Some writers, such as PyTorch's, add the zip64 record to every archive; it then lies behind the directory.
    const bool ends_here = d.size <= at && d.offset == at - d.size;
    if (d.count == kIn64Short || d.offset == kIn64 || d.size == kIn64 || !ends_here) read_end64(at, d);
    check<ValueError>(d.size <= d.end && d.offset == d.end - d.size, context_, "zip directory of ", d.size,
                      " bytes at ", d.offset, " does not end at its end record (", d.end, ")");
    check<ValueError>(d.count <= d.size / kCentralSize, context_, "zip directory of ", d.size, " bytes cannot have ",
                      d.count, " entries");
    return d;
  }

 private:
  // Returns the last end record whose comment fits into the bytes behind it.
  std::uint64_t find_end_record() {
    const std::uint64_t size = archive_.size();
    check<ValueError>(size >= kEndSize, context_, "is no zip archive: it has only ", size, " bytes");
    std::vector<std::byte> tail(static_cast<std::size_t>(std::min<std::uint64_t>(size, kEndSize + kMaxComment)));
    archive_.read_at(size - tail.size(), tail.data(), tail.size());
    for (std::size_t i = tail.size() - kEndSize + 1; i-- > 0;) {
      const bool found = get<std::uint32_t>(&tail[i]) == kEndSignature;
      if (found && get<std::uint16_t>(&tail[i] + 20) <= tail.size() - i - kEndSize) return size - tail.size() + i;
    }
    fail<ValueError>(context_, "is no zip archive or is cut short: there is no end record in its last ", tail.size(),
                     " bytes");
  }

  void read_end64(std::uint64_t end_record, Directory& d) {
    if (end_record < kLocator64Size + kEnd64Size) return;
    std::byte locator[kLocator64Size];
    archive_.read_at(end_record - kLocator64Size, locator, sizeof(locator));
    if (get<std::uint32_t>(locator) != kLocator64Signature)
      return;  // no zip64 record: the fields really have their largest values
    const auto at = get<std::uint64_t>(locator + 8);
    check<ValueError>(at <= end_record - kLocator64Size - kEnd64Size, context_, "zip64 end record at ", at,
                      " lies beyond its locator");
    std::byte r[kEnd64Size];
    archive_.read_at(at, r, sizeof(r));
    check<ValueError>(get<std::uint32_t>(r) == kEnd64Signature, context_, "there is no zip64 end record at ", at);
    d = {get<std::uint64_t>(r + 32), get<std::uint64_t>(r + 48), get<std::uint64_t>(r + 40), at};
  }

  const std::string& context_;
  const RandomAccess& archive_;
};

// Reads the 64-bit values of the fields marked kIn64 from the zip64 extra field, in the order of the format.
void apply_extra64(const std::string& context, std::span<const std::byte> extra, ZipMember& m) {
  while (extra.size() >= 4) {
    const auto id = get<std::uint16_t>(extra.data());
    const std::size_t length = get<std::uint16_t>(extra.data() + 2);
    check<ValueError>(length <= extra.size() - 4, member_context(context, m), "an extra field exceeds its record");
    std::span<const std::byte> field = extra.subspan(4, length);
    extra = extra.subspan(4 + length);
    if (id != kExtra64) continue;
    for (std::uint64_t* value : {&m.size, &m.compressed_size, &m.header_offset}) {
      if (*value != kIn64) continue;
      check<ValueError>(field.size() >= 8, member_context(context, m), "the zip64 field is too short");
      *value = get<std::uint64_t>(field.data());
      field = field.subspan(8);
    }
    return;
  }
}

// Checks the claims of a directory entry that can be checked without reading the member.
void check_sizes(const std::string& context, const ZipMember& m) {
  if (m.method == static_cast<std::uint16_t>(ZipMethod::stored)) {
    check<ValueError>(m.size == m.compressed_size || (m.flags & kFlagEncrypted), member_context(context, m),
                      "is stored, but states ", m.size, " bytes in ", m.compressed_size);
  } else if (m.method == static_cast<std::uint16_t>(ZipMethod::deflated)) {
    check<ValueError>(m.size / kMaxDeflateRatio <= m.compressed_size, member_context(context, m), "states that ",
                      m.compressed_size, " bytes expand to ", m.size, ", deflate reaches at most ", kMaxDeflateRatio,
                      " times");
  }
}

// The content of one member.
class MemberSource final : public ByteSource {
 public:
  MemberSource(std::string context, const RandomAccess& archive, const ZipMember& member)
      : ByteSource(std::move(context)), archive_(archive), member_(member), input_left_(member.compressed_size) {
    input_at_ = find_data();
    if (member.method == static_cast<std::uint16_t>(ZipMethod::deflated)) {
      input_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kInputSize, member.compressed_size)));
      check<OutOfMemoryError>(inflateInit2(&z_, -MAX_WBITS) == Z_OK, this->context(), "zlib cannot allocate its state");
      inflating_ = true;
    }
  }
  ~MemberSource() override {
    if (inflating_) inflateEnd(&z_);
  }

  std::optional<std::uint64_t> remaining() const override { return member_.size - produced_; }

  std::size_t read(void* to, std::size_t n) override {
    n = static_cast<std::size_t>(std::min<std::uint64_t>(n, member_.size - produced_));
    if (inflating_) inflate_exactly(static_cast<Bytef*>(to), n);
    else read_stored(to, n);
    if (n) crc_ = crc32_z(crc_, static_cast<const Bytef*>(to), n);  // zlib restarts the CRC for a null pointer
    produced_ += n;
    if (produced_ == member_.size && !finished_) finish();
    return n;
  }

 private:
  // Checks that the local header agrees with the directory. The data is behind it and ends before the next member.
  std::uint64_t find_data() const {
    check<ValueError>(!(member_.flags & kFlagEncrypted), context(), "is encrypted");
    check<ValueError>(member_.method == 0 || member_.method == 8, context(), "compression method ", member_.method,
                      " is not supported (only 0, stored, and 8, deflated)");
    const std::uint64_t room = member_.extent_end - member_.header_offset;
    const std::size_t fixed = kLocalSize + member_.name.size();
    check<ValueError>(room >= fixed, context(), "its header overlaps what follows it");
    std::vector<std::byte> h(fixed);
    archive_.read_at(member_.header_offset, h.data(), h.size());
    check<ValueError>(get<std::uint32_t>(h.data()) == kLocalSignature, context(), "there is no member header at ",
                      member_.header_offset);
    const bool same = get<std::uint16_t>(&h[8]) == member_.method &&
                      get<std::uint16_t>(&h[26]) == member_.name.size() &&
                      std::memcmp(h.data() + kLocalSize, member_.name.data(), member_.name.size()) == 0;
    check<ValueError>(same, context(), "its header does not agree with the directory");
    const std::uint64_t before = fixed + get<std::uint16_t>(&h[28]);
    check<ValueError>(before <= room && member_.compressed_size <= room - before, context(), "its ",
                      member_.compressed_size, " compressed bytes overlap what follows them");
    return member_.header_offset + before;
  }

  void read_stored(void* to, std::size_t n) {
    if (n) archive_.read_at(input_at_, to, n);
    input_at_ += n;
    input_left_ -= n;
  }

  // Refills the input buffer; false when the compressed data is used up.
  bool refill() {
    if (z_.avail_in > 0) return true;
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(input_.size(), input_left_));
    if (n == 0) return false;
    archive_.read_at(input_at_, input_.data(), n);
    input_at_ += n;
    input_left_ -= n;
    z_.next_in = input_.data();
    z_.avail_in = static_cast<uInt>(n);
    return true;
  }

  // Calls inflate() once; returns the number of bytes it produced.
  std::size_t inflate_some(Bytef* to, std::size_t n) {
    const bool more = refill();
    z_.next_out = to;
    z_.avail_out = static_cast<uInt>(std::min<std::size_t>(n, 1u << 30));
    const uInt room = z_.avail_out;
    const int status = inflate(&z_, Z_NO_FLUSH);
    ended_ = status == Z_STREAM_END;
    check<OutOfMemoryError>(status != Z_MEM_ERROR, context(), "zlib is out of memory");
    if (status != Z_OK && !ended_ && !(status == Z_BUF_ERROR && more))
      fail<ValueError>(context(), "the compressed data is damaged or cut short", z_.msg ? " (" : "",
                       z_.msg ? z_.msg : "", z_.msg ? ")" : "");
    return room - z_.avail_out;
  }

  void inflate_exactly(Bytef* to, std::size_t n) {
    for (std::size_t done = 0; done < n;) {
      check<ValueError>(!ended_, context(), "expands to ", produced_ + done, " bytes, its header states ",
                        member_.size);
      done += inflate_some(to + done, n - done);
    }
  }

  void finish() {
    finished_ = true;
    if (inflating_) {
      Bytef extra;
      while (!ended_)
        check<ValueError>(inflate_some(&extra, 1) == 0, context(), "expands beyond the ", member_.size,
                          " bytes its header states");
      const std::uint64_t unused = input_left_ + z_.avail_in;
      check<ValueError>(unused == 0, context(), unused, " bytes follow its compressed data");
    }
    check<ValueError>(crc_ == member_.crc, context(), "the CRC of its content does not match: the archive is damaged");
  }

  const RandomAccess& archive_;
  const ZipMember member_;
  std::uint64_t input_at_ = 0, input_left_, produced_ = 0;
  std::vector<Bytef> input_;
  z_stream z_{};
  uLong crc_ = 0;
  bool inflating_ = false, ended_ = false, finished_ = false;
};

}  // namespace

ZipReader::ZipReader(std::string_view op, const std::string& path)
    : ZipReader(io_context(op, path), std::make_unique<FileAccess>(op, path)) {}

ZipReader::ZipReader(std::string context, std::unique_ptr<RandomAccess> archive)
    : context_(std::move(context)), archive_(std::move(archive)) {
  read_directory();
}

ZipReader::ZipReader(ZipReader&&) noexcept = default;
ZipReader& ZipReader::operator=(ZipReader&&) noexcept = default;
ZipReader::~ZipReader() = default;

void ZipReader::read_directory() {
  const Directory d = DirectoryFinder(context_, *archive_).find();
  std::vector<std::byte> directory(static_cast<std::size_t>(d.size));
  if (d.size) archive_->read_at(d.offset, directory.data(), directory.size());
  parse_directory(directory, d.count, d.offset);
  find_extents(d.offset);
  drop_repeated_names();
}

void ZipReader::parse_directory(std::span<const std::byte> directory, std::uint64_t count,
                                std::uint64_t directory_offset) {
  for (std::uint64_t i = 0; i < count; ++i) {
    check<ValueError>(directory.size() >= kCentralSize && get<std::uint32_t>(directory.data()) == kCentralSignature,
                      context_, "zip directory is damaged at entry ", i, " of ", count);
    const std::byte* r = directory.data();
    const std::size_t name = get<std::uint16_t>(r + 28), extra = get<std::uint16_t>(r + 30),
                      comment = get<std::uint16_t>(r + 32);
    check<ValueError>(directory.size() >= kCentralSize + name + extra + comment, context_,
                      "zip directory ends within entry ", i, " of ", count);
    ZipMember m;
    m.name.assign(reinterpret_cast<const char*>(r + kCentralSize), name);
    m.flags = get<std::uint16_t>(r + 8);
    m.method = get<std::uint16_t>(r + 10);
    m.crc = get<std::uint32_t>(r + 16);
    m.compressed_size = get<std::uint32_t>(r + 20);
    m.size = get<std::uint32_t>(r + 24);
    m.header_offset = get<std::uint32_t>(r + 42);
    apply_extra64(context_, directory.subspan(kCentralSize + name, extra), m);
    check<ValueError>(m.header_offset < directory_offset, member_context(context_, m), "begins at ", m.header_offset,
                      ", where the directory is");
    check_sizes(context_, m);
    members_.push_back(std::move(m));
    directory = directory.subspan(kCentralSize + name + extra + comment);
  }
  check<ValueError>(directory.empty(), context_, "zip directory has ", directory.size(), " bytes after its ", count,
                    " entries");
}

// A member may extend up to the header of the next one. Several entries that share data are a known construction of zip
// bombs and are refused.
void ZipReader::find_extents(std::uint64_t directory_offset) {
  std::vector<std::size_t> order(members_.size());
  std::iota(order.begin(), order.end(), std::size_t(0));
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return members_[a].header_offset < members_[b].header_offset; });
  for (std::size_t k = 0; k < order.size(); ++k) {
    ZipMember& m = members_[order[k]];
    m.extent_end = k + 1 < order.size() ? members_[order[k + 1]].header_offset : directory_offset;
    const std::uint64_t room = m.extent_end - m.header_offset;
    check<ValueError>(m.compressed_size <= room && room - m.compressed_size >= kLocalSize + m.name.size(),
                      member_context(context_, m), "overlaps what follows it: ", m.compressed_size,
                      " compressed bytes do not fit into ", room);
  }
}

void ZipReader::drop_repeated_names() {
  std::unordered_map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < members_.size(); ++i) last[members_[i].name] = i;
  std::vector<ZipMember> kept;
  kept.reserve(last.size());
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (last[members_[i].name] == i) kept.push_back(members_[i]);
  members_ = std::move(kept);
  for (std::size_t i = 0; i < members_.size(); ++i) index_.emplace(members_[i].name, i);
}

const ZipMember* ZipReader::find(std::string_view name) const {
  const auto found = index_.find(name);
  return found == index_.end() ? nullptr : &members_[found->second];
}

std::unique_ptr<ByteSource> ZipReader::open(const ZipMember& member) const {
  return std::make_unique<MemberSource>(member_context(context_, member), *archive_, member);
}

std::vector<std::byte> ZipReader::read(const ZipMember& member) const {
  const auto source = open(member);  // opened first, so that nothing is allocated for an unreadable member
  std::vector<std::byte> content(static_cast<std::size_t>(member.size));
  std::byte nothing{};
  source->read(content.empty() ? &nothing : content.data(), content.size());
  return content;
}

}  // namespace catena
