// Byte streams of the file codecs: sequential input and output, and random access to a file or a block of memory.
//
// Every stream has a context such as `load: "a.npy"`: the operation and the name of the source, with which error
// messages start. A failed system call is an IOError; content that violates its format is a ValueError.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <catena/kernels/base/export.h>

namespace catena {

// `op: "name"`
CATENA_EXPORT std::string io_context(std::string_view op, std::string_view name);

class CATENA_EXPORT ByteSource {
 public:
  explicit ByteSource(std::string context) : context_(std::move(context)) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource();

  const std::string& context() const noexcept { return context_; }
  // Reads up to n bytes and returns their number, which is less than n only at the end.
  virtual std::size_t read(void* to, std::size_t n) = 0;
  // Returns the number of bytes left, if it is known without reading them. Before they allocate, readers compare sizes
  // that a file claims with it.
  virtual std::optional<std::uint64_t> remaining() const = 0;

 private:
  std::string context_;
};

class CATENA_EXPORT ByteSink {
 public:
  ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  virtual ~ByteSink();

  virtual void write(const void* from, std::size_t n) = 0;
  // True if bytes that have been written may be replaced.
  virtual bool can_patch() const { return false; }
  // Replaces n bytes at `position`, counted from the first byte written to this sink; all n must have been written
  // before.
  virtual void patch(std::uint64_t position, const void* from, std::size_t n);
};

// Reads memory, which must outlive the source.
class CATENA_EXPORT MemorySource final : public ByteSource {
 public:
  MemorySource(std::string context, std::span<const std::byte> bytes) : ByteSource(std::move(context)), rest_(bytes) {}
  std::size_t read(void* to, std::size_t n) override;
  std::optional<std::uint64_t> remaining() const override { return rest_.size(); }

 private:
  std::span<const std::byte> rest_;
};

// Reads a file. Its size is known unless it is a pipe or a device.
class CATENA_EXPORT FileSource final : public ByteSource {
 public:
  FileSource(std::string_view op, const std::string& path);
  ~FileSource() override;
  std::size_t read(void* to, std::size_t n) override;
  std::optional<std::uint64_t> remaining() const override { return remaining_; }

 private:
  int fd_;
  std::optional<std::uint64_t> remaining_;
};

// Returns the content of a regular file.
CATENA_EXPORT std::string read_file(std::string_view op, const std::string& path);

// Reads a standard stream from its current position; the number of bytes left is unknown.
class CATENA_EXPORT StreamSource final : public ByteSource {
 public:
  StreamSource(std::string context, std::istream& in) : ByteSource(std::move(context)), in_(in) {}
  std::size_t read(void* to, std::size_t n) override;
  std::optional<std::uint64_t> remaining() const override { return std::nullopt; }

 private:
  std::istream& in_;
};

// Collects the written bytes in memory.
class CATENA_EXPORT MemorySink final : public ByteSink {
 public:
  void write(const void* from, std::size_t n) override;
  bool can_patch() const override { return true; }
  void patch(std::uint64_t position, const void* from, std::size_t n) override;
  const std::vector<std::byte>& bytes() const noexcept { return bytes_; }
  std::vector<std::byte> take() noexcept { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

class CATENA_EXPORT StreamSink final : public ByteSink {
 public:
  StreamSink(std::string context, std::ostream& out) : context_(std::move(context)), out_(out) {}
  void write(const void* from, std::size_t n) override;

 private:
  std::string context_;
  std::ostream& out_;
};

// Random access, also from several threads at once.
class CATENA_EXPORT RandomAccess {
 public:
  RandomAccess() = default;
  RandomAccess(const RandomAccess&) = delete;
  RandomAccess& operator=(const RandomAccess&) = delete;
  virtual ~RandomAccess();

  virtual std::uint64_t size() const = 0;
  // Reads exactly n bytes; the caller has checked that they lie within size().
  virtual void read_at(std::uint64_t position, void* to, std::size_t n) const = 0;
};

// Access to memory, which must outlive the object.
class CATENA_EXPORT MemoryAccess final : public RandomAccess {
 public:
  explicit MemoryAccess(std::span<const std::byte> bytes) : bytes_(bytes) {}
  std::uint64_t size() const override { return bytes_.size(); }
  void read_at(std::uint64_t position, void* to, std::size_t n) const override;

 private:
  std::span<const std::byte> bytes_;
};

class CATENA_EXPORT FileAccess final : public RandomAccess {
 public:
  FileAccess(std::string_view op, const std::string& path);
  ~FileAccess() override;
  std::uint64_t size() const override { return size_; }
  void read_at(std::uint64_t position, void* to, std::size_t n) const override;

 private:
  std::string context_;
  int fd_;
  std::uint64_t size_ = 0;
};

}  // namespace catena
