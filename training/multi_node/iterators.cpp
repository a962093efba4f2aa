#include <catena/training/multi_node/iterators.h>

#include <string>
#include <typeinfo>

#include <catena/autograd/debug.h>
#include <catena/kernels/base/error.h>
#include <catena/nn/serializers/npz.h>
#include <catena/training/multi_node/messages.h>
#include <catena/training/parallel/packed_state.h>
#include <catena/training/stored_number.h>

namespace training {

using catena::check;
using catena::ValueError;
using internal::MessageReader;
using internal::MessageWriter;

namespace {

constexpr const char* kMultiNodeIterator = "MultiNodeIterator";
constexpr const char* kSynchronized = "create_synchronized_iterator";

void put_batch(MessageWriter& w, const std::optional<Batch>& batch) {
  w.put(batch.has_value());
  if (!batch) return;
  w.put(batch->stacked.has_value());
  internal::put_examples(w, batch->stacked ? Examples{*batch->stacked} : batch->examples);
  w.put(std::uint64_t(batch->indices.size()));
  for (const std::int64_t i : batch->indices) w.put(i);
}

std::optional<Batch> get_batch(MessageReader& r) {
  if (!r.get<bool>()) return {};
  Batch batch;
  const bool is_stacked = r.get<bool>();
  batch.examples = internal::get_examples(r);
  if (is_stacked) {
    batch.stacked = std::move(batch.examples[0]);
    batch.examples.clear();
  }
  batch.indices.resize(r.get<std::uint64_t>());
  for (std::int64_t& i : batch.indices) i = r.get<std::int64_t>();
  return batch;
}

}  // namespace

MultiNodeIterator::MultiNodeIterator(catena::Shared<Iterator> iterator, AnyCommunicator comm, int rank_master)
    : iterator_(std::move(iterator)), comm_(internal::checked(kMultiNodeIterator, comm)), rank_master_(rank_master) {
  internal::check_rank(kMultiNodeIterator, *comm_, rank_master_, "rank_master");
  if (!is_master()) iterator_ = nullptr;
  const bool has_iterator = !comm_->bcast_obj(iterator_ ? "1" : "", rank_master_).empty();
  check<ValueError>(has_iterator, kMultiNodeIterator, "rank ", rank_master_, ", the master, has no iterator");
  share_position();
}

MultiNodeIterator::Position MultiNodeIterator::position_of_iterator() const {
  Position p;
  try {
    p.batch_size = iterator_->batch_size();
  } catch (const catena::NotImplementedError&) {
    p.batch_size = -1;
  }
  p.epoch = iterator_->epoch();
  p.epoch_detail = iterator_->epoch_detail();
  const std::optional<double> previous = iterator_->previous_epoch_detail();
  p.has_previous = previous.has_value();
  p.previous_epoch_detail = previous.value_or(0);
  p.is_new_epoch = iterator_->is_new_epoch();
  p.can_reset = iterator_->can_reset();
  return p;
}

// Collective.
void MultiNodeIterator::share_position() {
  MessageWriter own;
  internal::on_all_ranks(*comm_, kMultiNodeIterator, [&] {
    if (is_master()) own.put(position_of_iterator());
  });
  const std::string message = comm_->bcast_obj(own.take(), rank_master_);
  position_ = MessageReader(message).get<Position>();
}

std::optional<Batch> MultiNodeIterator::next() {
  MessageWriter own;
  internal::on_all_ranks(*comm_, kMultiNodeIterator, [&] {
    if (!is_master()) return;
    const std::optional<Batch> batch = iterator_->next();
    own.put(position_of_iterator());
    put_batch(own, batch);
  });
  const std::string message = comm_->bcast_obj(own.take(), rank_master_);
  MessageReader r(message);
  position_ = r.get<Position>();
  return get_batch(r);
}

std::int64_t MultiNodeIterator::batch_size() const {
  return position_.batch_size < 0 ? Iterator::batch_size() : position_.batch_size;
}

std::optional<double> MultiNodeIterator::previous_epoch_detail() const {
  if (!position_.has_previous) return {};
  return position_.previous_epoch_detail;
}

void MultiNodeIterator::finalize() {
  if (iterator_) iterator_->finalize();
}

void MultiNodeIterator::reset() {
  if (!can_reset()) return Iterator::reset();
  internal::on_all_ranks(*comm_, kMultiNodeIterator, [&] {
    if (is_master()) iterator_->reset();
  });
  share_position();
}

void MultiNodeIterator::serialize(nn::Serializer& s) {
  internal::restore_on_rollback(s, position_);
  internal::serialize_count(s, "epoch", position_.epoch, kMultiNodeIterator);
  internal::serialize_progress(s, "epoch_detail", position_.epoch_detail, kMultiNodeIterator);
  s("is_new_epoch", position_.is_new_epoch);
  s("has_previous", position_.has_previous);
  internal::serialize_progress(s, "previous_epoch_detail", position_.previous_epoch_detail, kMultiNodeIterator);
  if (iterator_) iterator_->serialize(*s["iterator"]);
}

void MultiNodeIterator::serialize_generator(nn::Serializer& s) {
  if (iterator_) iterator_->serialize_generator(*s["iterator"]);
}

void internal::synchronize_iterator(Iterator& iterator, const AnyCommunicator& given) {
  const Communicator& comm = *checked(kSynchronized, given);
  MessageWriter own;
  on_all_ranks(comm, kSynchronized, [&] {
    if (comm.rank() != 0) return;
    own.put_text(autograd::internal::class_name(typeid(iterator)));
    nn::serializers::DictionarySerializer s;
    s.save(iterator);
    own.put_text(packed(s));
  });
  const std::string message = comm.bcast_obj(own.take(), 0);
  on_all_ranks(comm, kSynchronized, [&] {
    if (comm.rank() == 0) return;
    MessageReader r(message);
    const std::string_view type = r.get_text();
    const std::string own_type = autograd::internal::class_name(typeid(iterator));
    check<ValueError>(type == own_type, kSynchronized, "rank 0 has a ", type, ", and rank ", comm.rank(), " a ",
                      own_type);
    PackedDeserializer s(r.get_text());
    s.load(iterator);
  });
}

}  // namespace training
