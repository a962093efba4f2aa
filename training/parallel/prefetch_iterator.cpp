#include <catena/training/parallel/prefetch_iterator.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <catena/autograd/array_backend.h>
#include <catena/autograd/current_device.h>
#include <catena/autograd/random_state.h>
#include <catena/kernels/base/error.h>
#include <catena/kernels/base/error_context.h>
#include <catena/kernels/base/warning.h>
#include <catena/training/parallel/copy_stream.h>
#include <catena/training/parallel/fork_gate.h>
#include <catena/training/stored_number.h>

namespace training {

using autograd::internal::DefaultDeviceScope;
using internal::ForkGate;

namespace {

constexpr const char* kPrefetchIterator = "PrefetchIterator";

}  // namespace

// A batch on its device, or the end of the iteration, or an error.
struct PrefetchIterator::Prepared {
  std::optional<Batch> batch;
  catena::Owned<Iterator> position;  // behind the batch
  catena::Function<void()> copied;   // makes the current stream wait for the copies; empty: they are complete
  std::exception_ptr error;
};

// The iterator that is ahead, and the thread that reads it.
class PrefetchIterator::Ahead {
 public:
  // Reads `reader` from the caller's thread until start().
  Ahead(catena::Owned<Iterator> reader, const Options& options, Device device, std::uint64_t seed,
        std::uint64_t batches)
      : reader_(std::move(reader)),
        converter_(options.converter),
        depth_(static_cast<std::size_t>(options.depth)),
        device_(device),
        current_device_(autograd::default_backend().default_device()),
        seed_(seed),
        batches_(batches),
        copies_(internal::CopyStream::on(device)) {}
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  Prepared prepare();
  void start() {
    thread_ = std::thread([this] { serve(); });
  }
  Prepared take();

 private:
  void serve();

  catena::Owned<Iterator> reader_;
  Converter converter_;
  std::size_t depth_;
  Device device_, current_device_;
  std::uint64_t seed_, batches_;
  catena::Owned<internal::CopyStream> copies_;  // null: the device works synchronously

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Prepared> prepared_;
  bool stopping_ = false, working_ = false;
  std::thread thread_;
};

PrefetchIterator::Prepared PrefetchIterator::Ahead::prepare() {
  Prepared result;
  const std::optional<Batch> batch = reader_->next();
  result.position = reader_->copy();
  if (!batch) return result;
  const autograd::RandomScope random(autograd::derived_seed(seed_, batches_++));
  result.batch.emplace();
  result.batch->indices = batch->indices;
  const auto convert = [&] { result.batch->stacked = converter_(*batch, device_); };
  if (copies_) result.copied = copies_->run(*batch, convert);
  else convert();
  return result;
}

void PrefetchIterator::Ahead::serve() {
  std::unique_lock lock(mutex_);
  for (bool is_last = false; !is_last;) {
    changed_.wait(lock, [&] { return stopping_ || prepared_.size() < depth_; });
    if (stopping_) break;
    working_ = true;
    lock.unlock();
    Prepared next;
    {
      const ForkGate::Work work;
      try {
        const DefaultDeviceScope device(autograd::default_backend(), current_device_);
        next = prepare();
      } catch (...) {
        next.error = std::current_exception();
      }
    }
    is_last = next.error || !next.batch;
    lock.lock();
    working_ = false;
    prepared_.push_back(std::move(next));
    changed_.notify_all();
  }
}

PrefetchIterator::Prepared PrefetchIterator::Ahead::take() {
  const ForkGate::Rest rest;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !prepared_.empty(); });
  Prepared first = std::move(prepared_.front());
  prepared_.pop_front();
  changed_.notify_all();
  return first;
}

PrefetchIterator::Ahead::~Ahead() {
  if (!thread_.joinable()) return;
  constexpr std::chrono::seconds kPatience(5);
  const ForkGate::Rest rest;
  {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    if (!changed_.wait_for(lock, kPatience, [&] { return !working_; })) try {
        catena::warn("UserWarning",
                     catena::concat(kPrefetchIterator, ": waits for the next() of its iterator, which the option ",
                                    "timeout of loading iterators limits"));
      } catch (const std::exception&) {}  // a destructor must not throw
  }
  thread_.join();
}

PrefetchIterator::PrefetchIterator(Held<Iterator> iterator, Options options)
    : options_(std::move(options)), seed_(autograd::default_generator().seed) {
  catena::check<catena::ValueError>(options_.depth >= 1, kPrefetchIterator, "the depth is ", options_.depth,
                                    "; at least 1 batch is prepared ahead");
  catena::check<catena::TypeError>(bool(options_.converter), kPrefetchIterator, "the converter is empty");
  device_ = options_.device.value_or(autograd::default_backend().default_device());
  seen_ = iterator->copy();
}
PrefetchIterator::PrefetchIterator(const PrefetchIterator& o)
    : Iterator(o),
      seen_(o.seen_->copy()),
      options_(o.options_),
      device_(o.device_),
      seed_(o.seed_),
      batches_(o.batches_) {}
PrefetchIterator::~PrefetchIterator() = default;

catena::Owned<Iterator> PrefetchIterator::copy() const { return catena::Owned<Iterator>(new PrefetchIterator(*this)); }

// After an error, the position is as before.
std::optional<Batch> PrefetchIterator::next() try {
  Prepared next;
  if (ahead_) {
    next = ahead_->take();
    if (next.error) std::rethrow_exception(std::exchange(next.error, nullptr));
  } else {
    catena::Owned<Ahead> ahead(new Ahead(seen_->copy(), options_, device_, seed_, batches_));
    next = ahead->prepare();
    if (next.batch) {
      ahead->start();
      ahead_ = std::move(ahead);
    }
  }
  if (next.copied) next.copied();
  seen_ = std::move(next.position);
  if (next.batch) ++batches_;
  else ahead_.reset();
  return std::move(next.batch);
} catch (...) {
  ahead_.reset();
  catena::rethrow_standard(kPrefetchIterator);
}

void PrefetchIterator::finalize() {
  ahead_.reset();
  seen_->finalize();
}

void PrefetchIterator::reset() {
  ahead_.reset();
  seen_->reset();
}

void PrefetchIterator::serialize(nn::Serializer& s) {
  if (!s.is_writer()) ahead_.reset();
  seen_->serialize(s);
  const auto own = s["_catena"];
  if (!s.is_writer() && !own->contains("batches")) return;  // a file of the wrapped iterator
  internal::restore_on_rollback(s, seed_, batches_);
  (*own)("converter_seed", seed_);
  (*own)("batches", batches_);
}

void PrefetchIterator::serialize_generator(nn::Serializer& s) {
  if (!s.is_writer()) ahead_.reset();
  seen_->serialize_generator(s);
}

}  // namespace training
