#include <catena/training/datasets/packing.h>

#include <algorithm>

#include <catena/kernels/base/error.h>

namespace training {

using autograd::Dtype;
using autograd::Shape;
using catena::check;
using catena::ValueError;

namespace {

void check_sequences(const std::vector<Array>& sequences, std::int64_t length) {
  constexpr const char* op = "pack_sequences";
  check<ValueError>(!sequences.empty(), op, "there are no sequences");
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const Array &s = sequences[i], &first = sequences[0];
    check<ValueError>(bool(s) && s.ndim() >= 1, op, "sequence ", i, " is null or has no axes");
    check<ValueError>(s.shape(0) >= 1 && s.shape(0) <= length, op, "sequence ", i, " has ", s.shape(0),
                      " elements; a row has 1 to ", length);
    Shape own = s.shape(), others = first.shape();
    own.erase(0);
    others.erase(0);
    check<ValueError>(own == others && s.dtype() == first.dtype(), op, "sequence ", i, " has the shape ", s.shape(),
                      " and is ", s.dtype(), ", the first one has ", first.shape(), " and is ", first.dtype());
  }
}

struct Place {
  std::int64_t row, start;
};

// Returns the place of each sequence; `used` gets the used length of each row.
std::vector<Place> first_fit(const std::vector<Array>& sequences, std::int64_t length,
                             std::vector<std::int64_t>& used) {
  std::vector<Place> places;
  for (const Array& s : sequences) {
    const std::int64_t n = s.shape(0);
    auto row = std::find_if(used.begin(), used.end(), [&](std::int64_t u) { return u + n <= length; });
    if (row == used.end()) row = used.insert(used.end(), 0);
    places.push_back({row - used.begin(), *row});
    *row += n;
  }
  return places;
}

}  // namespace

Example pack_sequences(const std::vector<Array>& sequences, std::int64_t length, double padding) {
  check_sequences(sequences, length);
  std::vector<std::int64_t> used;
  const std::vector<Place> places = first_fit(sequences, length, used);
  const auto rows = std::int64_t(used.size());
  Shape shape = sequences[0].shape();
  shape[0] = length;
  shape.insert(0, rows);
  const Array values = autograd::arrays::full(shape, padding, sequences[0].dtype(), Device{});
  std::vector<std::int32_t> segments(std::size_t(rows * length)), positions(segments.size()), count(used.size());
  shape.erase(0);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto& [row, start] = places[i];
    const std::int64_t n = sequences[i].shape(0);
    const Array part =
        autograd::slice(autograd::reshape(autograd::slice(values, 0, row, row + 1), shape), 0, start, start + n);
    autograd::assign(part, autograd::to_device(sequences[i], Device{}));
    const std::int32_t segment = ++count[std::size_t(row)];
    for (std::int64_t k = 0; k < n; ++k) {
      segments[std::size_t(row * length + start + k)] = segment;
      positions[std::size_t(row * length + start + k)] = static_cast<std::int32_t>(k);
    }
  }
  return {{{"values", values},
           {"segments", autograd::array(segments, {rows, length}, Device{})},
           {"positions", autograd::array(positions, {rows, length}, Device{})}}};
}

}  // namespace training
