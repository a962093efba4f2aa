// The iterator of the Penn Tree Bank examples.
#pragma once

#include <utility>
#include <vector>

#include <catena/catena.h>

// Reads a text at batch_size places side by side, which are equally far apart. A batch is the words at these places and
// the words that follow them; then each place moves on by one word.
class ParallelSequentialIterator : public training::Iterator {
 public:
  ParallelSequentialIterator(std::vector<std::int32_t> dataset, std::int64_t batch_size, bool repeat = true)
      : dataset_(std::move(dataset)), batch_size_(batch_size), repeat_(repeat) {}

  std::optional<training::Batch> next() override {
    // Without `repeat`, the iteration ends when all words have been read once.
    if (!repeat_ && iteration_ * batch_size_ >= length()) return {};
    training::Batch batch;
    const nd::Array current = words();
    ++iteration_;
    batch.stacked = training::Example({current, words()});

    const std::int64_t epoch = iteration_ * batch_size_ / length();
    is_new_epoch_ = epoch_ < epoch;
    epoch_ = epoch;
    return batch;
  }
  std::int64_t batch_size() const override { return batch_size_; }
  std::int64_t epoch() const override { return epoch_; }
  double epoch_detail() const override { return double(iteration_ * batch_size_) / double(length()); }
  bool is_new_epoch() const override { return is_new_epoch_; }
  catena::Owned<Iterator> copy() const override {
    return catena::Owned<Iterator>(new ParallelSequentialIterator(*this));
  }
  void serialize(nn::Serializer& s) override {
    s("iteration", iteration_);
    s("epoch", epoch_);
  }

 private:
  std::int64_t length() const { return std::int64_t(dataset_.size()); }
  nd::Array words() const {
    std::vector<std::int32_t> at_places;
    for (std::int64_t i = 0; i < batch_size_; ++i)
      at_places.push_back(dataset_[std::size_t((i * length() / batch_size_ + iteration_) % length())]);
    return nd::array(at_places);
  }

  std::vector<std::int32_t> dataset_;
  std::int64_t batch_size_, iteration_ = 0, epoch_ = 0;
  bool repeat_, is_new_epoch_ = false;
};
