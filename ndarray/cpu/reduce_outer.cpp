// The outer variant of reductions (reduce.cpp): strips of neighbouring outputs. There are three ways to reduce a chunk
// of a strip:
//
//   in order        row by row, in place or after evaluation or conversion; each row is added to the accumulators
//                   of its lane; for wide rows
//   side by side    all lanes of all outputs at once: contiguous rows are one run of elements, whose vectors span
//                   several rows
//   for places      values and their positions in separate vectors
//
// The last two ways need contiguous rows. Other rows are first copied to a panel, a few rows at a time.
#include <bit>
#include <cstring>

#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/reducer.h>
#include <catena/ndarray/cpu/stream_store.h>

namespace nd::cpu {
namespace {

constexpr std::int64_t kNarrowStrip = 64;        // outputs of the narrowest strip of a row
constexpr std::int64_t kEvaluatedStrip = 256;    // as kNarrowStrip, if a program computes the rows of a strip
constexpr std::int64_t kPanelBytes = 16 * 1024;  // lanes or elements that should stay in the first-level cache
constexpr std::int64_t kTogether = 32;           // rows that are added to a lane at once
constexpr std::int64_t kConverted = 256;         // elements of such rows that are converted at once
constexpr std::int64_t kLaneBytes = 256 * 1024;  // of the lanes of rows in order, which stay in the cache of a core

}  // namespace

// How strips are reduced, and the layout of a thread's scratch memory.
struct Reducer::OuterPlan {
  bool places = false, side_by_side = false, gathered = false;  // if neither of the first two: in order
  std::int64_t width = 0, lanes = 0, panel_rows = 0;
  std::int64_t evaluated_rows = 0;  // rows that a program computes at once
  // Bytes of a row of accumulators; then offsets: finished groups of lanes, the levels of a ChunkTree, and the rest.
  std::size_t row_bytes = 0, ended_at = 0, levels_at = 0, tiles_at = 0, panel_at = 0, converted_at = 0, bytes = 0;
  Tiles tiles;
};

// `width` neighbouring outputs, starting at `in`, and the scratch memory of a thread. It begins with the accumulators
// of the lanes of a chunk, lane after lane.
struct Reducer::Strip {
  const OuterPlan& plan;
  Place in;
  std::int64_t width;
  std::byte* memory;
};

// The accumulators of the lanes of a chunk, to which elements are added in rounds of one element per lane.
class Reducer::Lanes {
 public:
  Lanes(const Reducer& reducer, const Strip& s, std::int64_t lanes)
      : table_(reducer.table_), s_(s), cells_(lanes * s.width), lanes_(lanes), reducer_(reducer) {}
  // Where the elements of the next round go. Groups end as kernel.h has it.
  std::byte* next_round() {
    if (begins_group()) begin_group(0);
    ++rounds_;
    return s_.memory;
  }
  // Whether the next round is the first one of a group. Then `rounds` of them may be written instead.
  bool begins_group() {
    if (rounds_ == table_.group) end_group();
    return rounds_ == 0;
  }
  std::byte* begin_group(std::int64_t rounds) {
    if (rounds == 0) table_.init(s_.memory, cells_);
    rounds_ = rounds;
    return s_.memory;
  }
  // The accumulators of the chunk.
  const std::byte* combined() {
    std::byte* acc = s_.memory;
    if (has_ended_) {
      acc = ended();
      if (rounds_ > 0) table_.combine(acc, s_.memory, cells_);
    } else if (rounds_ == 0) {
      begin_group(0);
    }
    reducer_.combine_all_lanes(s_, acc, lanes_);
    return acc;
  }

 private:
  std::byte* ended() const { return s_.memory + s_.plan.ended_at; }
  void end_group() {
    if (has_ended_) table_.combine(ended(), s_.memory, cells_);
    else std::memcpy(ended(), s_.memory, std::size_t(cells_) * table_.acc_bytes);
    has_ended_ = true;
    rounds_ = 0;
  }

  const ReductionLoop& table_;
  const Strip& s_;
  const std::int64_t cells_, lanes_;
  const Reducer& reducer_;
  std::int64_t rounds_ = 0;
  bool has_ended_ = false;
};

Reducer::OuterPlan Reducer::plan_outer() const {
  const std::int64_t row_length = kept_.back(), count = std::min(count_, chunk_),
                     item = static_cast<std::int64_t>(itemsize(in_dtype_));
  const bool neighbours = kept_stride() == item || row_length == 1, one_axis = reduced_.size() <= 1;
  OuterPlan p;
  p.lanes = table_.lanes;
  if (table_.any_order)
    while (2 * p.lanes * row_length <= 1024) p.lanes *= 2;
  p.lanes = std::min(p.lanes, count);
  const std::int64_t cell = std::max(acc_, in_item_);
  p.places = table_.fold_places != nullptr && !pre_;
  const bool dense = neighbours && one_axis && direct_in_ && !pre_ && reduced_stride() == row_length * item &&
                     p.lanes * row_length * cell <= kPanelBytes;
  // Elements of moments are converted in panels, because reading and writing their accumulators for each row is costly.
  const bool converts = !direct_in_ && !table_.adds_pairs;
  p.gathered = !pre_ && !dense && (!neighbours || row_length < kNarrowStrip || converts);
  if (p.places) p.gathered = !neighbours || !one_axis || !direct_in_;
  p.side_by_side = !p.places && (dense || p.gathered);
  const bool in_order = !p.places && !p.side_by_side;
  if (in_order && table_.any_order) p.lanes = 1;
  std::int64_t most = std::max<std::int64_t>(16, kPanelBytes / acc_);
  // A single row does not need wide strips.
  if (in_order && count_ > 1) {
    // Data in a cache is read as fast in short pieces as in long ones.
    const bool is_small = p.lanes == 1 || outputs_ * count_ * item <= kLaneBytes;
    most = std::max<std::int64_t>(kTile, (is_small ? kPanelBytes : kLaneBytes) / (p.lanes * acc_));
  }
  if (p.side_by_side) most = std::max<std::int64_t>(16, kPanelBytes / (p.lanes * cell));
  p.width = dense && !p.places ? row_length : strip_width(most);

  p.row_bytes = round_up_64(std::size_t(p.width * acc_));
  p.bytes = round_up_64(std::size_t((p.places ? 1 : p.lanes) * p.width * acc_));
  p.ended_at = p.bytes;
  if (table_.group != catena::kOneGroup && count > p.lanes * table_.group) p.bytes *= 2;
  p.levels_at = p.bytes;
  if (chunks_ > 1) p.bytes += ChunkTree::levels(chunks_) * p.row_bytes;
  if (p.gathered) {
    // Moments are costly to read and to write. Groups do not go on in another panel, if it does not become too large.
    const std::int64_t bytes = table_.adds_pairs ? kPanelBytes : 4 * kPanelBytes,
                       fit = std::max<std::int64_t>(1, bytes / (p.width * in_item_)),
                       whole = table_.group == catena::kOneGroup ? 0 : p.lanes * table_.group;
    const std::int64_t part = 0 < whole && whole * p.width * in_item_ <= kPanelBytes ? whole : p.lanes;
    p.panel_rows = std::min(count, p.places ? fit : std::max<std::int64_t>(1, fit / part) * part);
    p.panel_at = p.bytes;
    p.bytes += round_up_64(std::size_t(p.panel_rows * p.width * item));
    p.converted_at = p.bytes;
    if (!direct_in_) p.bytes += round_up_64(std::size_t(p.panel_rows * p.width * in_item_));
  } else if (!direct_in_ || pre_) {
    p.evaluated_rows = pre_ && p.width < kEvaluatedStrip ? std::clamp<std::int64_t>(kTile / p.width, 1, count) : 1;
    p.tiles = tiles(pre_ ? kTile : catena::kGroup * kConverted, p.evaluated_rows > 1);
    p.tiles_at = p.bytes;
    p.bytes += p.tiles.end;
  }
  return p;
}

// Returns the number of outputs of a strip: whole cache lines, no more than the caches hold. If there are fewer rows
// and chunks than threads, each thread gets a share of every row.
std::int64_t Reducer::strip_width(std::int64_t most) const {
  const std::int64_t row_length = kept_.back(), rows = outputs_ / row_length, threads = catena::available_threads();
  const std::int64_t least = chunks_ > 1 ? kTile : pre_ ? kEvaluatedStrip : kNarrowStrip;
  std::int64_t pieces = (row_length + most - 1) / most;
  // Extrema in few columns are searched for in whole vectors; half a vector would take as long.
  const bool is_divisible = table_.fold_places == nullptr || row_length >= 3 * kNarrowStrip;
  const bool shared =
      is_divisible && rows < 4 * threads && rows % threads != 0 && has_few_chunks() && outputs_ * count_ > kGrain;
  if (shared) pieces = (pieces + threads - 1) / threads * threads;
  const std::int64_t share = ((row_length + pieces - 1) / pieces + kNarrowStrip - 1) / kNarrowStrip * kNarrowStrip;
  return std::min(row_length, std::min(most, std::max(share, least)));
}

// ---- in order -----------------------------------------------------------------------------------
// Adds several rows at a time to each lane, so that the lanes are read and written less often than the rows: the rows
// of a group, or a few rows if there are no groups.
void Reducer::add_together(const Strip& s, std::int64_t begin, std::int64_t n, std::byte* acc,
                           std::int64_t lanes) const {
  const std::int64_t step = reduced_stride(), together = table_.any_order ? 8 : catena::kGroup;
  for (std::int64_t i = 0; i < n; i += lanes * together) {
    const std::int64_t rest = std::min(lanes * together, n - i);
    for (std::int64_t lane = 0; lane < std::min(lanes, rest); ++lane) {
      const catena::ReductionBlock rows{s.in[0] + (begin + i + lane) * step, lanes * step,
                                        (rest - lane + lanes - 1) / lanes, begin + i + lane, s.width};
      if (direct_in_) table_.fold_columns(acc + lane * s.width * acc_, rows, i == 0);
      else convert_and_add(s, rows, acc + lane * s.width * acc_, i == 0);
    }
  }
}

// The rows of one group.
void Reducer::convert_and_add(const Strip& s, const catena::ReductionBlock& rows, std::byte* acc, bool first) const {
  std::byte* const tile = s.memory + s.plan.tiles_at;
  const std::int64_t stride = kept_stride();
  for (std::int64_t j = 0; j < rows.n; j += kConverted) {
    const std::int64_t m = std::min(kConverted, rows.n - j);
    for (std::int64_t r = 0; r < rows.rows; ++r)
      load_(rows.in + r * rows.row_step + j * stride, stride, tile + r * m * in_item_, m);
    table_.fold_columns(acc + j * acc_, {tile, m * in_item_, rows.rows, rows.index, m}, first);
  }
}

// For fewer than two rows per lane: adds pairs of rows that are combined first. A pair is the two rows of a lane, or,
// if every lane has one row, the rows of two lanes that are joined first. Returns the number of remaining lanes.
std::int64_t Reducer::add_pairs(const Strip& s, std::int64_t begin, std::int64_t n, std::byte* acc,
                                std::int64_t lanes) const {
  const std::int64_t step = reduced_stride(),
                     half = n > lanes ? lanes : std::int64_t(std::bit_floor(std::uint64_t(n - 1)));
  for (std::int64_t lane = 0; lane < half; ++lane)
    table_.fold_columns(acc + lane * s.width * acc_,
                        {s.in[0] + (begin + lane) * step, half * step, lane + half < n ? 2 : 1, begin + lane, s.width},
                        true);
  return half;
}

// Adds the rows one after the other. The hardware does not prefetch across the gap between two rows, so the beginning
// of the next row is prefetched, and all of it if the array is large.
const std::byte* Reducer::reduce_in_order(const Strip& s, std::int64_t begin, std::int64_t n) const {
  constexpr std::int64_t kFetched = 8, kLargeBytes = 2 * 1024 * 1024;
  const std::int64_t bytes = s.width * in_item_;
  const std::int64_t fetched = outputs_ * count_ * in_item_ < kLargeBytes ? kFetched : bytes / kLine + 1;  // lines
  const std::int64_t lanes = std::min(s.plan.lanes, n), lane_bytes = s.width * acc_;
  std::byte* const acc = s.memory;
  const bool converts =
      !direct_in_ && table_.group == catena::kGroup && kept_stride() == std::int64_t(itemsize(in_dtype_));
  if (table_.fold_columns != nullptr && table_.in == table_.element && !pre_ && reduced_.size() <= 1 &&
      (converts || (direct_in_ && kept_stride() == in_item_))) {
    if (n >= 2 * lanes || !table_.adds_pairs) {
      add_together(s, begin, n, acc, lanes);
      combine_all_lanes(s, acc, lanes);
      return acc;
    }
    if (n > 1 && direct_in_ && outputs_ * count_ * in_item_ < kFetchedBytes) {
      combine_all_lanes(s, acc, add_pairs(s, begin, n, acc, lanes));
      return acc;
    }
  }
  Lanes of_chunk(*this, s, lanes);
  Odometer at(reduced_, inputs_.reduced_strides(), begin);
  std::int64_t lane = 0;
  const auto next_lane = [&] {
    std::byte* const to = lane == 0 ? of_chunk.next_round() : acc + lane * lane_bytes;
    if (++lane == lanes) lane = 0;
    return to;
  };
  if (s.plan.evaluated_rows > 1) {
    std::byte* const tile = s.memory + s.plan.tiles_at;
    for (std::int64_t i = 0, m; i < n; i += m) {
      m = std::min(s.plan.evaluated_rows, n - i);
      evaluate_rows(s, at, m);
      for (std::int64_t r = 0; r < m; ++r)
        table_.accumulate(next_lane(), tile + r * s.width * in_item_, in_item_, begin + i + r, s.width);
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) {
      if (i + 1 < n)
        for (std::size_t k = 0; k < inputs_.n; ++k)
          if (inputs_.kept[k].back() != 0)
            for (std::int64_t line = 0; line < fetched; ++line)
              fetch_line(s.in[k] + at.offset(k) + inputs_.reduced[k].back() + line * kLine);
      if (pre_) accumulate_evaluated(s, next_lane(), at, begin + i);
      else accumulate(s, next_lane(), at.offset(), begin + i);
      at.advance(1);
    }
  }
  return of_chunk.combined();
}

void Reducer::accumulate(const Strip& s, std::byte* acc, std::int64_t offset, std::int64_t index) const {
  const std::int64_t stride = kept_stride();
  if (direct_in_) return table_.accumulate(acc, s.in[0] + offset, stride, index, s.width);
  std::byte* tile = s.memory + s.plan.tiles_at;
  for (std::int64_t j = 0; j < s.width; j += kTile) {
    const std::int64_t m = std::min(kTile, s.width - j);
    load_(s.in[0] + offset + j * stride, stride, tile, m);
    table_.accumulate(acc + j * acc_, tile, in_item_, index, m);
  }
}

void Reducer::accumulate_evaluated(const Strip& s, std::byte* acc, const Odometer& at, std::int64_t index) const {
  std::byte* p[catena::kMaxOperands];
  std::int64_t stride[catena::kMaxOperands];
  for (std::size_t k = 0; k < inputs_.n; ++k) {
    p[k] = s.in[k] + at.offset(k);
    stride[k] = inputs_.kept[k].back();
  }
  std::byte* tile = s.memory + s.plan.tiles_at;
  for (std::int64_t j = 0; j < s.width; j += kTile) {
    const std::int64_t m = std::min(kTile, s.width - j);
    evaluate(s.plan.tiles, tile, p, stride, 0, m);
    table_.accumulate(acc + j * acc_, tile, in_item_, index, m);
    for (std::size_t k = 0; k < inputs_.n; ++k) p[k] += m * stride[k];
  }
}

// Computes the next `m` rows into the tile, without gaps. Inputs that have gaps, or one element per row, are copied
// first.
void Reducer::evaluate_rows(const Strip& s, Odometer& at, std::int64_t m) const {
  std::byte* const tile = s.memory + s.plan.tiles_at;
  std::byte* p[catena::kMaxOperands];
  std::int64_t step[catena::kMaxOperands];
  CastFn copy[catena::kMaxOperands] = {};
  bool copies = false;
  for (std::size_t k = 0; k < inputs_.n; ++k) {
    const Dtype dtype = inputs_.all[k].dtype;
    const auto item = static_cast<std::int64_t>(itemsize(dtype));
    const std::int64_t along = inputs_.kept[k].back(), down = reduced_.empty() ? 0 : inputs_.reduced[k].back();
    const bool lies_so = m <= at.run() && ((along == 0 && down == 0) || (along == item && down == s.width * item));
    p[k] = lies_so ? s.in[k] + at.offset(k) : tile + s.plan.tiles.collected + k * kCollected;
    step[k] = lies_so ? along : item;
    if (lies_so) continue;
    if (along == 0 && m <= at.run()) {
      repeat_each(p[k], s.in[k] + at.offset(k), down, m, s.width, std::size_t(item));
    } else {
      copy[k] = catena::cast_function(dtype, dtype);
      copies = true;
    }
  }
  for (std::int64_t r = 0; r < m; ++r) {
    if (copies)
      for (std::size_t k = 0; k < inputs_.n; ++k)
        if (copy[k] != nullptr)
          copy[k](s.in[k] + at.offset(k), inputs_.kept[k].back(), p[k] + r * s.width * step[k], step[k], s.width);
    at.advance(1);
  }
  evaluate(s.plan.tiles, tile, p, step, 0, m * s.width);
}

// ---- side by side and for places ----------------------------------------------------------------
// Copies the next n rows to the panel, without gaps.
const std::byte* Reducer::gather_panel(const Strip& s, Odometer& at, std::int64_t n) const {
  std::byte* panel = s.memory + s.plan.panel_at;
  const auto item = static_cast<std::int64_t>(itemsize(in_dtype_));
  const std::int64_t row = s.width * item, kept = kept_stride(), step = reduced_stride();
  const CastFn copy = catena::cast_function(in_dtype_, in_dtype_);
  for (std::int64_t i = 0; i < n;) {
    const std::int64_t m = std::min(at.run(), n - i);
    const std::byte* from = s.in[0] + at.offset();
    std::byte* to = panel + i * row;
    at.advance(m);
    i += m;
    if (kept == item) {
      copy_rows(to, row, from, step, m, row);
    } else if (step == item && m > 1) {
      transpose_block(to, row, from, kept, m, s.width, std::size_t(item));
    } else {
      for (std::int64_t k = 0; k < m; ++k) copy(from + k * step, kept, to + k * row, item, s.width);
    }
  }
  if (direct_in_) return panel;
  load_(panel, item, s.memory + s.plan.converted_at, n * s.width);
  return s.memory + s.plan.converted_at;
}

// Adds n contiguous rows. Lane l of output j is accumulator l * width + j.
void Reducer::add_columns(const Strip& s, const std::byte* x, std::int64_t n, std::int64_t lanes, bool first) const {
  const std::int64_t row_bytes = s.width * in_item_, together = std::min(table_.group, kTogether);
  const bool fetches = outputs_ * count_ * in_item_ >= kFetchedBytes && !s.plan.gathered;
  for (std::int64_t i = 0, m; i < n; i += m) {
    m = std::min(n - i, lanes * together);
    // The columns are read one after the other, an order in which the hardware does not prefetch.
    const std::int64_t ahead = fetches && i + m < n ? std::min(n - i - m, m) * row_bytes : 0;
    for (std::int64_t at = 0; at < ahead; at += kLine) fetch_line(x + (i + m) * row_bytes + at);
    // The first lanes may have one row more.
    const std::int64_t whole = m / lanes, more = m % lanes;
    const std::byte* from = x + i * row_bytes;
    if (more > 0)
      table_.fold_columns(s.memory, {from, lanes * row_bytes, whole + 1, 0, more * s.width}, first && i == 0);
    if (whole > 0)
      table_.fold_columns(s.memory + more * s.width * acc_,
                          {from + more * row_bytes, lanes * row_bytes, whole, 0, (lanes - more) * s.width},
                          first && i == 0);
  }
}

const std::byte* Reducer::reduce_side_by_side(const Strip& s, std::int64_t begin, std::int64_t n) const {
  const std::int64_t lanes = std::min(s.plan.lanes, n), row_bytes = s.width * in_item_;
  // A few rows are added faster one by one.
  const bool has_columns = table_.fold_columns != nullptr && table_.in == table_.element && !table_.any_order;
  const bool are_whole =
      table_.group == catena::kOneGroup
          ? n >= 8 * lanes || !table_.adds_pairs
          : n >= lanes * table_.group && (!s.plan.gathered || s.plan.panel_rows % (lanes * table_.group) == 0);
  const bool by_columns = has_columns && are_whole;
  std::optional<Lanes> of_chunk;
  if (!by_columns) of_chunk.emplace(*this, s, lanes);
  const auto add = [&](const std::byte* x, std::int64_t first, std::int64_t m) {
    if (by_columns) return add_columns(s, x, m, lanes, first == begin);
    for (std::int64_t i = 0, taken; i < m; i += taken) {
      taken = std::min(lanes, m - i);
      // A single round is faster without fold_columns.
      if (has_columns && m - i >= 2 * lanes && of_chunk->begins_group()) {
        const std::int64_t rounds = std::min(table_.group, (m - i) / lanes);
        taken = rounds * lanes;
        table_.fold_columns(of_chunk->begin_group(rounds),
                            {x + i * row_bytes, lanes * row_bytes, rounds, first + i, lanes * s.width}, true);
      } else {
        table_.accumulate(of_chunk->next_round(), x + i * row_bytes, in_item_, first + i, taken * s.width);
      }
    }
  };
  if (s.plan.gathered) {
    Odometer at(reduced_, inputs_.reduced_strides(), begin);
    for (std::int64_t i = 0, m; i < n; i += m) {
      m = std::min(s.plan.panel_rows, n - i);
      add(gather_panel(s, at, m), begin + i, m);
    }
  } else {
    add(s.in[0] + begin * reduced_stride(), begin, n);
  }
  if (of_chunk) return of_chunk->combined();
  combine_all_lanes(s, s.memory, lanes);
  return s.memory;
}

// Combines `lanes` rows of accumulators into the first one.
void Reducer::combine_all_lanes(const Strip& s, std::byte* acc, std::int64_t lanes) const {
  for (std::int64_t all = lanes, half; all > 1; all = half) {
    half = std::int64_t(std::bit_floor(std::uint64_t(all - 1)));
    table_.combine(acc, acc + half * s.width * acc_, (all - half) * s.width);
  }
}

const std::byte* Reducer::reduce_places(const Strip& s, std::int64_t begin, std::int64_t n) const {
  std::byte* acc = s.memory;
  table_.init(acc, s.width);
  if (!s.plan.gathered) {
    const std::int64_t step = reduced_stride();
    table_.accumulate_places(acc, {s.in[0] + begin * step, step, n, begin, s.width}, in_item_);
    return acc;
  }
  Odometer at(reduced_, inputs_.reduced_strides(), begin);
  for (std::int64_t i = 0, m; i < n; i += m) {
    m = std::min(s.plan.panel_rows, n - i);
    const std::byte* panel = gather_panel(s, at, m);
    table_.accumulate_places(acc, {panel, s.width * in_item_, m, begin + i, s.width}, in_item_);
  }
  return acc;
}

// ---- chunks and strips --------------------------------------------------------------------------
// Returns the accumulators of one chunk.
const std::byte* Reducer::reduce_chunk_outer(const Strip& s, std::int64_t chunk) const {
  const std::int64_t begin = chunk * chunk_, n = std::min(chunk_, count_ - begin);
  if (s.plan.places) return reduce_places(s, begin, n);
  if (s.plan.side_by_side) return reduce_side_by_side(s, begin, n);
  return reduce_in_order(s, begin, n);
}

void Reducer::run_outer() const {
  const OuterPlan plan = plan_outer();
  const std::int64_t row_length = kept_.back(), width = plan.width;
  const std::int64_t strips_per_row = (row_length + width - 1) / width;
  const std::int64_t strips = outputs_ / row_length * strips_per_row, threads = catena::available_threads();
  const bool by_chunk = chunks_ > 1 && strips < 2 * threads && !(has_few_chunks() && strips % threads == 0);
  Shape outer = kept_;
  auto outer_strides = inputs_.kept;
  outer.pop_back();
  for (std::size_t k = 0; k <= inputs_.out; ++k) outer_strides[k].resize(outer.size());
  const std::int64_t out_stride = inputs_.kept[inputs_.out].back();

  const auto strip_at = [&](std::int64_t k, std::byte* memory) {
    const std::int64_t first = k % strips_per_row * width;
    const Odometer in(outer, {outer_strides.data(), inputs_.n}, k / strips_per_row);
    Strip s{plan, inputs_.place(in), std::min(width, row_length - first), memory};
    for (std::size_t i = 0; i < inputs_.n; ++i) s.in[i] += first * inputs_.kept[i].back();
    return s;
  };
  const auto write = [&](std::int64_t k, const Strip& s, const std::byte* acc) {
    const std::int64_t first = k % strips_per_row * width;
    const Odometer out(outer, {&outer_strides[inputs_.out], 1}, k / strips_per_row);
    finish(acc, out_.data + out.offset() + first * out_stride, out_stride, s.width);
  };
  if (!by_chunk) {
    const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (width * count_));
    catena::parallel_for(strips, grain, [&](std::int64_t b, std::int64_t e) {
      const Workspace memory(plan.bytes);
      for (std::int64_t k = b; k < e; ++k) {
        const Strip s = strip_at(k, memory.data());
        if (chunks_ == 1) {
          write(k, s, reduce_chunk_outer(s, 0));
          continue;
        }
        ChunkTree tree(table_, s.width, plan.row_bytes, memory.data() + plan.levels_at);
        for (std::int64_t c = 0; c < chunks_; ++c) tree.add(reduce_chunk_outer(s, c));
        write(k, s, tree.total());
      }
    });
    return;
  }
  const Workspace parts(std::size_t(strips * chunks_) * plan.row_bytes);
  const auto part = [&](std::int64_t k, std::int64_t c) {
    return parts.data() + std::size_t(k * chunks_ + c) * plan.row_bytes;
  };
  const std::int64_t grain = std::max<std::int64_t>(1, kGrain / (width * chunk_));
  catena::parallel_for(strips * chunks_, grain, [&](std::int64_t b, std::int64_t e) {
    const Workspace memory(plan.bytes);
    for (std::int64_t i = b; i < e; ++i) {
      const Strip s = strip_at(i / chunks_, memory.data());
      std::memcpy(part(i / chunks_, i % chunks_), reduce_chunk_outer(s, i % chunks_), std::size_t(s.width * acc_));
    }
  });
  for (std::int64_t k = 0; k < strips; ++k) {
    const Strip s = strip_at(k, nullptr);
    join_chunks(table_, part(k, 0), chunks_, s.width, plan.row_bytes);
    write(k, s, part(k, 0));
  }
}

}  // namespace nd::cpu
