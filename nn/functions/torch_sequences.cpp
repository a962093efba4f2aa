#include <catena/nn/functions/torch_sequences.h>

#include <algorithm>
#include <functional>

#include <catena/autograd/functions/array.h>
#include <catena/autograd/functions/torch_indexing.h>
#include <catena/nn/functions/array.h>

namespace nn::utils::rnn {

autograd::Variable pad_sequence(const autograd::Variables& sequences, const PadSequenceOptions& o) {
  const autograd::Variable rows = nn::pad_sequence(sequences, {}, o.padding_value);
  return o.batch_first ? rows : autograd::swapaxes(rows, 0, 1);
}

namespace {

using autograd::Variable;

// Rows of x (n, ...) in the order of positions.
Variable rows_at(const Variable& x, const std::vector<std::int64_t>& positions) {
  const autograd::Array rows = autograd::array(positions, {std::int64_t(positions.size())}, x.device());
  return autograd::index_select(x, 0, autograd::as_variable(rows));
}

// The order of the sequences by their lengths, the longest first.
std::vector<std::int64_t> order_of(const std::vector<std::int64_t>& lengths) {
  std::vector<std::int64_t> order;
  for (std::size_t i = 0; i < lengths.size(); ++i) order.push_back(std::int64_t(i));
  std::ranges::stable_sort(
      order, [&](std::int64_t i, std::int64_t j) { return lengths[std::size_t(i)] > lengths[std::size_t(j)]; });
  return order;
}

void check_lengths(const char* op, const std::vector<std::int64_t>& lengths, std::int64_t batch, std::int64_t longest,
                   bool enforce_sorted) {
  catena::check<catena::ValueError>(std::int64_t(lengths.size()) == batch && batch > 0, op, "there are ",
                                    lengths.size(), " lengths for ", batch, " sequences");
  for (const std::int64_t n : lengths)
    catena::check<catena::ValueError>(n >= 1 && n <= longest, op, "a length is ", n, "; it must be between 1 and ",
                                      longest);
  catena::check<catena::ValueError>(!enforce_sorted || std::ranges::is_sorted(lengths, std::greater<>()), op,
                                    "the lengths increase: {.enforce_sorted = false} sorts the sequences");
}

}  // namespace

PackedSequence pack_padded_sequence(const Variable& x, const std::vector<std::int64_t>& lengths, const PackOptions& o) {
  constexpr const char* kOp = "pack_padded_sequence";
  catena::check<catena::ValueError>(x && x.ndim() >= 2, kOp, "x must have axes of times and of sequences");
  const std::int64_t batch = x.shape(o.batch_first ? 0 : 1), longest = x.shape(o.batch_first ? 1 : 0);
  check_lengths(kOp, lengths, batch, longest, o.enforce_sorted);
  PackedSequence result;
  const std::vector<std::int64_t> order = order_of(lengths);
  if (!o.enforce_sorted) {
    result.sorted_indices = order;
    result.unsorted_indices = invert_permutation(order);
  }
  std::vector<std::int64_t> positions;
  for (std::int64_t t = 0; t < lengths[std::size_t(order[0])]; ++t) {
    const std::size_t before = positions.size();
    for (const std::int64_t b : order)
      if (lengths[std::size_t(b)] > t) positions.push_back(o.batch_first ? b * longest + t : t * batch + b);
    result.batch_sizes.push_back(std::int64_t(positions.size() - before));
  }
  autograd::Shape rows{batch * longest};
  for (int a = 2; a < x.ndim(); ++a) rows.push_back(x.shape(a));
  result.data = rows_at(x.reshape(rows), positions);
  return result;
}
PackedSequence pack_padded_sequence(const Variable& x, const autograd::Array& lengths, const PackOptions& o) {
  return pack_padded_sequence(x, autograd::to_vector<std::int64_t>(lengths), o);
}

PackedSequence pack_sequence(const autograd::Variables& sequences, const PackSequenceOptions& o) {
  std::vector<std::int64_t> lengths;
  for (const Variable& s : sequences) lengths.push_back(s.shape(0));
  return pack_padded_sequence(pad_sequence(sequences), lengths, {.enforce_sorted = o.enforce_sorted});
}

PaddedSequences pad_packed_sequence(const PackedSequence& packed, const PadPackedOptions& o) {
  constexpr const char* kOp = "pad_packed_sequence";
  catena::check<catena::ValueError>(packed.data && !packed.batch_sizes.empty(), kOp, "there are no sequences");
  const auto longest = std::int64_t(packed.batch_sizes.size());
  const std::int64_t batch = packed.batch_sizes[0], length = o.total_length.value_or(longest),
                     padding = packed.data.shape(0);
  catena::check<catena::ValueError>(length >= longest, kOp, "total_length is ", length,
                                    ", and the longest sequence has ", longest, " elements");
  const auto place = [&](std::int64_t b) {
    return packed.unsorted_indices.empty() ? b : packed.unsorted_indices[std::size_t(b)];
  };
  PaddedSequences result;
  result.lengths.assign(std::size_t(batch), 0);
  std::vector<std::int64_t> positions(std::size_t(batch * length), padding);
  std::int64_t at = 0;
  for (std::int64_t t = 0; t < longest; ++t) {
    for (std::int64_t b = 0; b < batch; ++b) {
      if (place(b) >= packed.batch_sizes[std::size_t(t)]) continue;
      positions[std::size_t(o.batch_first ? b * length + t : t * batch + b)] = at + place(b);
      ++result.lengths[std::size_t(b)];
    }
    at += packed.batch_sizes[std::size_t(t)];
  }
  autograd::Shape row = packed.data.shape(), shape{o.batch_first ? batch : length, o.batch_first ? length : batch};
  row[0] = 1;
  for (int a = 1; a < row.size(); ++a) shape.push_back(row[a]);
  const Variable filler =
      autograd::as_variable(autograd::arrays::full(row, o.padding_value, packed.data.dtype(), packed.data.device()));
  result.output = rows_at(autograd::concat({packed.data, filler}, 0), positions).reshape(shape);
  return result;
}

autograd::Variables unpad_sequence(const Variable& padded, const std::vector<std::int64_t>& lengths, bool batch_first) {
  constexpr const char* kOp = "unpad_sequence";
  catena::check<catena::ValueError>(padded && padded.ndim() >= 2, kOp, "x must have axes of times and of sequences");
  const Variable rows = batch_first ? padded : autograd::swapaxes(padded, 0, 1);
  check_lengths(kOp, lengths, rows.shape(0), rows.shape(1), false);
  autograd::Variables result;
  for (std::size_t b = 0; b < lengths.size(); ++b)
    result.push_back(autograd::narrow(autograd::select(rows, 0, std::int64_t(b)), 0, 0, lengths[b]));
  return result;
}
autograd::Variables unpad_sequence(const Variable& padded, const Variable& lengths, bool batch_first) {
  return unpad_sequence(padded, autograd::to_vector<std::int64_t>(lengths.data()), batch_first);
}
autograd::Variables unpack_sequence(const PackedSequence& packed) {
  const PaddedSequences padded = pad_packed_sequence(packed, {.batch_first = true});
  return unpad_sequence(padded.output, padded.lengths, true);
}

std::vector<std::int64_t> invert_permutation(const std::vector<std::int64_t>& permutation) {
  const auto size = std::int64_t(permutation.size());
  std::vector<std::int64_t> places(permutation.size(), -1);
  for (std::size_t k = 0; k < permutation.size(); ++k) {
    const std::int64_t i = permutation[k];
    catena::check<catena::ValueError>(i >= 0 && i < size && places[std::size_t(i)] < 0, "invert_permutation", i,
                                      " is out of range or repeated among ", size, " numbers");
    places[std::size_t(i)] = std::int64_t(k);
  }
  return places;
}
Variable invert_permutation(const Variable& permutation) {
  const std::vector<std::int64_t> places = invert_permutation(autograd::to_vector<std::int64_t>(permutation.data()));
  return Variable(autograd::array(places, permutation.shape(), permutation.device()), {.requires_grad = false});
}

}  // namespace nn::utils::rnn
