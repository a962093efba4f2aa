// The batches of one evaluation. Internal to training/extensions and training/multi_node.
#pragma once

#include <cstdint>
#include <optional>

#include <catena/kernels/base/error.h>
#include <catena/training/iterator.h>

namespace training::internal {

// Reads an iterator from its beginning to its end: after reset(), or, if it cannot be reset, from a copy of it.
class EvaluationSweep {
 public:
  // `who`: the evaluator, for messages.
  EvaluationSweep(const char* who, Iterator& given) : who_(who), iterator_(&given) {
    if (given.can_reset()) {
      given.reset();
    } else {
      copied_ = given.copy();
      iterator_ = copied_.get();
    }
    first_epoch_ = iterator_->epoch();  // a copy may be of an iterator that has gone on
  }
  // ValueError if the iterator repeats, because the evaluation would never end.
  std::optional<Batch> next() {
    std::optional<Batch> batch = iterator_->next();
    if (!batch) return batch;
    const std::int64_t sweeps = iterator_->epoch() - first_epoch_;
    catena::check<catena::ValueError>(
        sweeps < 1 || (sweeps == 1 && iterator_->is_new_epoch()), who_,
        "the iterator begins a second sweep, so an evaluation would never end; it must not repeat");
    return batch;
  }
  double part() const { return iterator_->epoch_detail() - double(first_epoch_); }  // of the sweep, from 0 to 1

 private:
  const char* who_;
  Iterator* iterator_;
  catena::Owned<Iterator> copied_;
  std::int64_t first_epoch_ = 0;
};

}  // namespace training::internal
