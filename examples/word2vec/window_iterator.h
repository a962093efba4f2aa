// The iterator of the word2vec example.
#pragma once

#include <algorithm>
#include <vector>

#include <catena/catena.h>

// Takes words in random order, each with the words around it. A batch is the words (N) and their contexts (N, 2 w): w
// words before and w after each of them, where w is drawn anew for each batch from 1 to window - 1.
class WindowIterator : public training::Iterator {
 public:
  WindowIterator(const std::vector<std::int32_t>& dataset, int window, int batch_size, bool repeat = true)
      : dataset_(nd::array(dataset)),
        order_(nd::random::permutation(std::int64_t(dataset.size()) - 2 * window) + window),
        window_(window),
        batch_size_(batch_size),
        repeat_(repeat) {}

  std::optional<training::Batch> next() override {
    if (!repeat_ && epoch_ > 0) return {};
    const std::int64_t end = current_position_ + batch_size_;
    const nd::Array position = order_(nd::Slice(current_position_, end));
    const int w = nd::random::randint(1, window_).item<int>();
    const nd::Array offset = nd::concatenate({nd::arange(-w, 0), nd::arange(1, w + 1)});
    const nd::Array pos = position(nd::Slice(), nd::newaxis) + offset;
    training::Batch batch;
    batch.stacked = training::Example({dataset_.take(position), dataset_.take(pos)});

    is_new_epoch_ = end >= order_.size();
    if (is_new_epoch_) {
      order_ = nd::random::permutation(order_);
      ++epoch_;
    }
    current_position_ = is_new_epoch_ ? 0 : end;
    return batch;
  }
  std::int64_t batch_size() const override { return batch_size_; }
  std::int64_t epoch() const override { return epoch_; }
  double epoch_detail() const override { return double(epoch_) + double(current_position_) / double(order_.size()); }
  bool is_new_epoch() const override { return is_new_epoch_; }
  catena::Owned<Iterator> copy() const override { return catena::Owned<Iterator>(new WindowIterator(*this)); }
  void serialize(nn::Serializer& s) override {
    s("current_position", current_position_);
    s("epoch", epoch_);
    s("is_new_epoch", is_new_epoch_);
    autograd::Array order = order_;
    s("order", order);
  }

 private:
  nd::Array dataset_, order_;
  int window_, batch_size_;
  std::int64_t current_position_ = 0, epoch_ = 0;
  bool repeat_, is_new_epoch_ = false;
};
