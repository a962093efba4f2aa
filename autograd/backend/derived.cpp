#include <catena/autograd/backend/backend.h>
#include <catena/autograd/backend/derived.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace autograd {
namespace {

using catena::Storage;

struct Result {
  std::ptrdiff_t offset;  // of the source's first element in its storage
  const void* what;
  Array array;  // null: requested only once so far
};

// The results for one storage at one version.
struct Source {
  std::uint64_t version;
  void (*destroy)(Storage*);  // the storage's own function, which destroy_with_results replaces
  std::vector<Result> results;
};

std::size_t bytes_of(const Array& a) { return a && a->storage != nullptr ? a->storage->bytes : 0; }

class Table {
 public:
  // Returns the kept result. If there is none, returns null and sets `keep` to true if it was requested before.
  Array find(const Array& a, const void* what, bool& keep) {
    std::vector<Result> outdated;  // destroyed after the lock
    const std::lock_guard lock(mutex_);
    Source* source = source_of(a, outdated);
    if (source == nullptr) return {};
    for (const Result& r : source->results)
      if (is(r, a, what)) {
        keep = true;
        return r.array;
      }
    source->results.push_back({offset_of(a), what, {}});
    return {};
  }

  void keep(const Array& a, std::uint64_t version, const void* what, const Array& array) {
    const std::lock_guard lock(mutex_);
    const auto found = sources_.find(a->storage);
    if (found == sources_.end() || found->second.version != version) return;
    for (Result& r : found->second.results)
      if (is(r, a, what) && !r.array && bytes_of(array) <= kMostDerivedBytes - bytes_) {
        r.array = array;
        bytes_ += bytes_of(array);
      }
  }

  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return bytes_;
  }

 private:
  static std::ptrdiff_t offset_of(const Array& a) { return a->data - a->storage->data; }
  static bool is(const Result& r, const Array& a, const void* what) {
    return r.offset == offset_of(a) && r.what == what;
  }

  // The caller has a reference to the storage. So it is not destroyed during this call, and the thread that destroys it
  // later sees the writes made here.
  Source* source_of(const Array& a, std::vector<Result>& outdated) {
    Storage* storage = a->storage;
    const std::uint64_t version = storage->version.load(catena::MemoryOrder::acquire);
    const auto found = sources_.find(storage);
    if (!a.backend().counts_writes(a)) {
      if (found != sources_.end()) drop_results(found->second, outdated);
      return nullptr;
    }
    if (found == sources_.end()) {
      Source& source = sources_.emplace(storage, Source{version, storage->destroy, {}}).first->second;
      storage->destroy = &destroy_with_results;
      return &source;
    }
    if (found->second.version != version) {
      drop_results(found->second, outdated);
      found->second.version = version;
    }
    return &found->second;
  }

  void drop_results(Source& source, std::vector<Result>& dropped) {
    for (const Result& r : source.results) bytes_ -= bytes_of(r.array);
    dropped = std::exchange(source.results, {});
  }

  Source remove(Storage* storage) {
    const std::lock_guard lock(mutex_);
    Source source = std::move(sources_.extract(storage).mapped());
    for (const Result& r : source.results) bytes_ -= bytes_of(r.array);
    return source;
  }

  static void destroy_with_results(Storage* storage);

  std::mutex mutex_;
  std::unordered_map<Storage*, Source> sources_;
  std::size_t bytes_ = 0;
};

// Never destroyed, because arrays in static variables may be destroyed later.
Table& table() {
  static Table& t = *new Table;
  return t;
}

void Table::destroy_with_results(Storage* storage) {
  const Source source = table().remove(storage);
  storage->destroy = source.destroy;
  storage->destroy(storage);
}

}  // namespace

Array derived(const Array& source, const void* what, const catena::Function<Array()>& make) {
  if (source->storage == nullptr) return make();
  const std::uint64_t version = source->storage->version.load(catena::MemoryOrder::acquire);
  bool keep = false;
  if (Array known = table().find(source, what, keep)) return known;
  Array made = make();
  if (keep) table().keep(source, version, what, made);
  return made;
}

std::size_t derived_bytes() { return table().bytes(); }

}  // namespace autograd
