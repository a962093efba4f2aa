// Iterators of several ranks that stay in step.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <utility>

#include <catena/training/iterator.h>
#include <catena/training/multi_node/ranks.h>

namespace training {

// Gives all ranks the batches of the iterator of one rank, in host memory: for models whose parts on several ranks need
// the same inputs. The other ranks may give nullptr for the iterator. All functions that move the iterator (next(),
// reset()) are collective, and what the iterator throws is thrown on all ranks: there as it is, elsewhere as a
// RuntimeError with that rank and the message.
class CATENA_EXPORT MultiNodeIterator : public Iterator {
 public:
  // Collective. ValueError on all ranks if the master has no iterator, and if rank_master is no rank.
  MultiNodeIterator(catena::Shared<Iterator> iterator, AnyCommunicator comm, int rank_master);
  std::optional<Batch> next() override;
  std::int64_t batch_size() const override;
  std::int64_t epoch() const override { return position_.epoch; }
  double epoch_detail() const override { return position_.epoch_detail; }
  std::optional<double> previous_epoch_detail() const override;
  bool is_new_epoch() const override { return position_.is_new_epoch; }
  void finalize() override;
  // Stores the position, and on the master the iterator under "iterator".
  void serialize(nn::Serializer& s) override;
  void serialize_generator(nn::Serializer& s) override;
  bool can_reset() const override { return position_.can_reset; }
  void reset() override;

 private:
  struct Position {
    std::int64_t batch_size = -1;  // -1: the iterator has none
    std::int64_t epoch = 0;
    double epoch_detail = 0, previous_epoch_detail = 0;
    bool has_previous = false, is_new_epoch = false, can_reset = false;
  };
  bool is_master() const { return comm_->rank() == rank_master_; }
  Position position_of_iterator() const;
  void share_position();

  catena::Shared<Iterator> iterator_;  // null on ranks other than the master
  AnyCommunicator comm_;
  int rank_master_;
  Position position_;
};

//   auto batches = training::create_multi_node_iterator(training::SerialIterator(train, 32), comm);
// An iterator that is an lvalue is borrowed, and must outlive the result; nullptr for none.
inline MultiNodeIterator create_multi_node_iterator(Held<Iterator> iterator, AnyCommunicator comm,
                                                    int rank_master = 0) {
  return {iterator.shared(), std::move(comm), rank_master};
}

namespace internal {
CATENA_EXPORT void synchronize_iterator(Iterator& iterator, const AnyCommunicator& comm);
}
// Collective. Returns the iterator with the state of that of rank 0: its position, its order, and its generator. The
// ranks then read the same examples in the same order, each from its own dataset, as long as they call next() equally
// often. An error on all ranks if an iterator is of another class than that of rank 0, or its order has another length:
// a ValueError on its rank, a RuntimeError on the others.
//
//   auto batches = training::create_synchronized_iterator(training::SerialIterator(train, 32), comm);
template <std::derived_from<Iterator> I> I create_synchronized_iterator(I iterator, AnyCommunicator comm) {
  internal::synchronize_iterator(iterator, comm);
  return iterator;
}

}  // namespace training
