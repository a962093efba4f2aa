// The outer variant of reductions (reduce.cpp): strips of neighbouring outputs, whose rows are added to the
// accumulators of the lanes. Rows are read in place if they have the type of the loop, lie along one axis, and either
// follow each other without a gap or are wide. Other rows, and the elements that a program computes, are first written
// to a panel, a few rows at a time. Positions of extrema are found in values and positions that are separate vectors.
#include <bit>
#include <cstring>

#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/reducer.h>
#include <catena/ndarray/cpu/tuning.h>

namespace nd::cpu {
// How strips are reduced, and the layout of a thread's scratch memory.
struct Reducer::OuterPlan {
  bool positions = false;
  std::int64_t width = 0, lanes = 0;
  std::int64_t panel_rows = 0;  // rows that are written to the panel at a time; 0: they are read in place
  // Bytes of a row of accumulators; then offsets: the accumulators of a group, the levels of a ChunkTree, the panel,
  // and the panel in the type of the loop.
  std::size_t row_bytes = 0, group_at = 0, levels_at = 0, panel_at = 0, converted_at = 0, bytes = 0;
  Tiles tiles;  // in the panel, if a program computes the rows
};

// `width` neighbouring outputs, starting at `in`, and the scratch memory of a thread. It begins with the accumulators
// of the lanes of a chunk, lane after lane.
struct Reducer::Strip {
  const OuterPlan& plan;
  Addresses in;
  std::int64_t width;
  std::byte* memory;
};

// The accumulators of the lanes of a chunk of `rows` rows. Groups of a lane are combined as kernel.h describes.
class Reducer::Lanes {
 public:
  Lanes(const Reducer& reducer, const Strip& s, std::int64_t rows)
      : reducer_(reducer),
        table_(reducer.table_),
        s_(s),
        has_groups_(table_.group != catena::kOneGroup),
        has_columns_(table_.fold_columns != nullptr && table_.in == table_.element),
        left_(rows),
        lanes_(std::min(s.plan.lanes, rows)) {
    // If there are fewer than two rows per lane, the first step of combining the lanes is done while rows are added,
    // with the same bits. Of 20 rows, for example, rows 16 to 19 are added to lanes 0 to 3 instead of lanes 16 to 19.
    const bool at_once = s.plan.panel_rows == 0 || s.plan.panel_rows >= rows;
    pairs_ = has_columns_ && table_.adds_pairs && at_once && 1 < rows && rows < 2 * s.plan.lanes;
    if (pairs_) lanes_ = std::int64_t(std::bit_floor(std::uint64_t(std::min(lanes_, rows - 1))));
  }

  // Adds m rows, `step` bytes apart, of which the first has number `index`.
  void add(const std::byte* x, std::int64_t step, std::int64_t index, std::int64_t m) {
    // Rounds that are added at once. They are read one column after the other, so they should not be many.
    const std::int64_t most = has_groups_ ? table_.group : table_.any_order ? 8 : catena::kGroup;
    left_ -= m;
    for (std::int64_t taken; m > 0; m -= taken, x += taken * step, index += taken) {
      taken = std::min(lanes_ * most, m);
      // A single round is added faster row by row.
      if (!has_columns_ || lane_ > 0 || rounds_ > 0 || (m < 2 * lanes_ && !pairs_)) {
        taken = add_round(x, step, index, m);
      } else if (left_ == 0 || taken == lanes_ * most) {
        fold(total(), x, step, index, taken, !has_total_);
        has_total_ = true;
      } else {
        taken = taken / lanes_ * lanes_;
        fold(has_groups_ ? group() : total(), x, step, index, taken, has_groups_ || !has_total_);
        if (has_groups_) rounds_ = taken / lanes_;
        else has_total_ = true;
      }
    }
  }
  // The accumulators of the chunk.
  const std::byte* combined() {
    if (rounds_ > 0 || lane_ > 0) end_group();
    if (!has_total_) table_.init(total(), lanes_ * s_.width);
    reducer_.combine_all_lanes(s_, total(), lanes_);
    return total();
  }

 private:
  std::byte* total() const { return s_.memory; }
  std::byte* group() const { return has_groups_ ? s_.memory + s_.plan.group_at : total(); }
  bool is_dense(std::int64_t step) const { return step == s_.width * reducer_.in_item_; }

  // Adds rows to all lanes, beginning with the first one. `first`: the accumulators are uninitialised.
  void fold(std::byte* to, const std::byte* x, std::int64_t step, std::int64_t index, std::int64_t rows,
            bool first) const {
    const std::int64_t whole = rows / lanes_, more = rows % lanes_, bytes = s_.width * reducer_.acc_;
    // Lanes of contiguous rows are joined: those that have one row more, and the others.
    for (std::int64_t lane = 0, n; lane < std::min(lanes_, rows); lane += n) {
      n = !is_dense(step) ? 1 : lane < more ? more : lanes_ - more;
      table_.fold_columns(to + lane * bytes,
                          {x + lane * step, lanes_ * step, whole + (lane < more), index + lane, n * s_.width}, first);
    }
  }
  // Adds one row to each lane from lane_ on. Returns the number of rows, at most m.
  std::int64_t add_round(const std::byte* x, std::int64_t step, std::int64_t index, std::int64_t m) {
    if (has_groups_ ? rounds_ == 0 && lane_ == 0 : !has_total_) table_.init(group(), lanes_ * s_.width);
    has_total_ |= !has_groups_;
    const std::int64_t taken = std::min(lanes_ - lane_, m);
    // Rows are joined unless their numbers matter.
    const std::int64_t joined = is_dense(step) && table_.fold_positions == nullptr ? taken : 1;
    for (std::int64_t i = 0; i < taken; i += joined)
      table_.accumulate(group() + (lane_ + i) * s_.width * reducer_.acc_, x + i * step, reducer_.in_item_, index + i,
                        joined * s_.width);
    lane_ += taken;
    if (lane_ == lanes_) {
      lane_ = 0;
      if (has_groups_ && ++rounds_ == table_.group) end_group();
    }
    return taken;
  }
  void end_group() {
    const std::int64_t cells = lanes_ * s_.width;
    rounds_ = lane_ = 0;
    if (!has_groups_) return;
    if (has_total_) table_.combine(total(), group(), cells);
    else std::memcpy(total(), group(), std::size_t(cells) * table_.acc_bytes);
    has_total_ = true;
  }

  const Reducer& reducer_;
  const ReductionLoop& table_;
  const Strip& s_;
  const bool has_groups_, has_columns_;
  bool pairs_ = false, has_total_ = false;
  std::int64_t left_, lanes_;
  std::int64_t rounds_ = 0;  // of the group that is not combined with the total yet
  std::int64_t lane_ = 0;    // to which the next row is added
};

Reducer::OuterPlan Reducer::plan_outer() const {
  const std::int64_t row_length = kept_.back(), count = std::min(count_, chunk_),
                     item = static_cast<std::int64_t>(itemsize(in_dtype_)), cell = std::max(acc_, in_item_);
  const bool in_place = (kept_stride() == item || row_length == 1) && reduced_.size() <= 1 && direct_in_ && !pre_;
  OuterPlan p;
  p.positions = table_.fold_positions != nullptr && !pre_;
  p.lanes = table_.lanes;
  if (table_.any_order)
    while (2 * p.lanes * row_length <= 1024) p.lanes *= 2;
  p.lanes = std::min(p.lanes, count);
  const bool dense =
      in_place && !p.positions && reduced_stride() == row_length * item && p.lanes * row_length * cell <= kPanelBytes;
  const bool gathered = !in_place || (!p.positions && !dense && row_length < kNarrowStrip);
  if (p.positions || (table_.any_order && (pre_ || (in_place && !gathered && !dense)))) p.lanes = 1;
  std::int64_t most = std::max<std::int64_t>(16, kPanelBytes / acc_);
  if (pre_) most = kTile;
  else if (!p.positions && gathered) most = std::max<std::int64_t>(16, kPanelBytes / (p.lanes * cell));
  else if (!p.positions && count_ > 1) most = std::max<std::int64_t>(kTile, kPanelBytes / (p.lanes * acc_));
  p.width = dense ? row_length : strip_width(most);

  p.row_bytes = round_up_64(std::size_t(p.width * acc_));
  const std::size_t lane_bytes = round_up_64(std::size_t(p.lanes * p.width * acc_));
  p.group_at = lane_bytes;
  p.bytes = table_.group == catena::kOneGroup ? lane_bytes : 2 * lane_bytes;
  p.levels_at = p.bytes;
  if (chunks_ > 1) p.bytes += ChunkTree::levels(chunks_) * p.row_bytes;
  p.panel_at = p.bytes;
  if (pre_) {
    p.panel_rows = std::clamp<std::int64_t>(kTile / p.width, 1, count);
    p.tiles = tiles(kTile, p.panel_rows > 1);
    p.bytes += p.tiles.end;
  } else if (gathered) {
    // Accumulators of moments are costly to read and to write, so their panels are larger. A group does not span
    // panels, unless a panel with a whole group would be too large.
    const std::int64_t bytes = table_.adds_pairs ? kPanelBytes : 4 * kPanelBytes,
                       fit = std::max<std::int64_t>(1, bytes / (p.width * in_item_)),
                       whole = table_.group == catena::kOneGroup ? 0 : p.lanes * table_.group;
    const std::int64_t part = 0 < whole && whole * p.width * in_item_ <= kPanelBytes ? whole : p.lanes;
    p.panel_rows = std::min(count, std::max<std::int64_t>(1, fit / part) * part);
    p.bytes += round_up_64(std::size_t(p.panel_rows * p.width * item));
    p.converted_at = p.bytes;
    if (!direct_in_) p.bytes += round_up_64(std::size_t(p.panel_rows * p.width * in_item_));
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
  const bool is_divisible = table_.fold_positions == nullptr || row_length >= 3 * kNarrowStrip;
  const bool shared =
      is_divisible && rows < 4 * threads && rows % threads != 0 && has_few_chunks() && outputs_ * count_ > kLightGrain;
  if (shared) pieces = (pieces + threads - 1) / threads * threads;
  const std::int64_t share = ((row_length + pieces - 1) / pieces + kNarrowStrip - 1) / kNarrowStrip * kNarrowStrip;
  return std::min(row_length, std::min(most, std::max(share, least)));
}

// ---- panels -------------------------------------------------------------------------------------
// Computes the next m rows, without gaps. Inputs of several rows that have gaps, or one element per row, are copied
// first.
const std::byte* Reducer::evaluate_panel(const Strip& s, Odometer& at, std::int64_t m) const {
  std::byte* const tile = s.memory + s.plan.panel_at;
  std::byte* p[catena::kMaxOperands];
  std::int64_t step[catena::kMaxOperands];
  CastFn copy[catena::kMaxOperands] = {};
  bool copies = false;
  for (std::size_t k = 0; k < inputs_.n; ++k) {
    const Dtype dtype = inputs_.all[k].dtype;
    const auto item = static_cast<std::int64_t>(itemsize(dtype));
    const std::int64_t along = inputs_.kept[k].back(), down = reduced_.empty() ? 0 : inputs_.reduced[k].back();
    const bool readable_in_place =
        m == 1 || (m <= at.run() && ((along == 0 && down == 0) || (along == item && down == s.width * item)));
    p[k] = readable_in_place ? s.in[k] + at.offset(k) : tile + s.plan.tiles.collected + k * kCollected;
    step[k] = readable_in_place ? along : item;
    if (readable_in_place) continue;
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
  return tile + s.plan.tiles.elements;
}

// Copies the next n rows, without gaps.
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

// Combines `lanes` rows of accumulators into the first one.
void Reducer::combine_all_lanes(const Strip& s, std::byte* acc, std::int64_t lanes) const {
  for (std::int64_t all = lanes, half; all > 1; all = half) {
    half = std::int64_t(std::bit_floor(std::uint64_t(all - 1)));
    table_.combine(acc, acc + half * s.width * acc_, (all - half) * s.width);
  }
}

// ---- chunks and strips --------------------------------------------------------------------------
// Returns the accumulators of one chunk.
const std::byte* Reducer::reduce_chunk_outer(const Strip& s, std::int64_t chunk) const {
  const std::int64_t begin = chunk * chunk_, n = std::min(chunk_, count_ - begin), step = reduced_stride();
  Lanes lanes(*this, s, n);
  if (s.plan.positions) table_.init(s.memory, s.width);
  const auto add = [&](const std::byte* x, std::int64_t row_step, std::int64_t index, std::int64_t rows) {
    if (s.plan.positions) table_.accumulate_positions(s.memory, {x, row_step, rows, index, s.width}, in_item_);
    else lanes.add(x, row_step, index, rows);
  };
  if (s.plan.panel_rows == 0) {
    add(s.in[0] + begin * step, step, begin, n);
  } else {
    Odometer at(reduced_, inputs_.reduced_strides(), begin);
    for (std::int64_t i = 0, m; i < n; i += m) {
      m = std::min(s.plan.panel_rows, n - i);
      add(pre_ ? evaluate_panel(s, at, m) : gather_panel(s, at, m), s.width * in_item_, begin + i, m);
    }
  }
  return s.plan.positions ? s.memory : lanes.combined();
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
    Strip s{plan, inputs_.addresses(in), std::min(width, row_length - first), memory};
    for (std::size_t i = 0; i < inputs_.n; ++i) s.in[i] += first * inputs_.kept[i].back();
    return s;
  };
  const auto write = [&](std::int64_t k, const Strip& s, const std::byte* acc) {
    const std::int64_t first = k % strips_per_row * width;
    const Odometer out(outer, {&outer_strides[inputs_.out], 1}, k / strips_per_row);
    finish(acc, out_.data + out.offset() + first * out_stride, out_stride, s.width);
  };
  if (!by_chunk) {
    const std::int64_t grain = std::max<std::int64_t>(1, kLightGrain / (width * count_));
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
  const std::int64_t grain = std::max<std::int64_t>(1, kLightGrain / (width * chunk_));
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
