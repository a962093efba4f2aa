// Row-wise kernels: one or two phases of reduction over one set of axes, then a write of every element. The loops read
// the elements of a row in C order of the reduced axes, in compute types. Operands with another layout or dtype pass
// through buffers.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <catena/kernels/base/parallel.h>
#include <catena/kernels/registry/bind.h>
#include <catena/ndarray/cpu/convert.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/row_sums.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/stream_store.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

using catena::BoundOperand;
using catena::compute_dtype;
using catena::itemsize;
using catena::kMaxOperands;
using catena::Shape;
using catena::Strides;

// The most rows that pass through a phase before the next phase begins: as many as are finished together.
constexpr std::int64_t kMostInterleavedRows = catena::kFinishedRows;
// The longest rows that are computed with one row per lane of a vector whatever their layout, if there are enough rows.
// Rows with sums are computed so for any number of rows, and the bits of their sums depend on this length.
constexpr std::int64_t kLongestColumn = 96;

class RowWiseRun {
 public:
  explicit RowWiseRun(const catena::bound::RowWise& call, const RowSums* sums = nullptr)
      : sums_(sums),
        loop_(call.kernel->loop_table[call.loop]),
        table_(*loop_.row_wise),
        n_in_(call.kernel->nin),
        n_out_(call.kernel->nout) {
    n_ = n_in_ + n_out_ + call.kernel->nrow;
    Strides kept[kMaxOperands], reduced[kMaxOperands];
    for (int a = 0; a < call.shape.size(); ++a) {
      const bool is_reduced = std::find(call.axes.begin(), call.axes.end(), a) != call.axes.end();
      (is_reduced ? reduced_ : kept_).push_back(call.shape[a]);
      for (int k = 0; k < n_; ++k)
        (is_reduced ? reduced : kept)[k].push_back((*call.operands[std::size_t(k)].strides)[a]);
    }
    count_ = catena::size_of(reduced_);
    rows_ = catena::size_of(kept_);
    catena::merge_axes(kept_, {kept, std::size_t(n_)});
    catena::merge_axes(reduced_, {reduced, std::size_t(n_)});
    bool all_direct = true;
    for (int k = 0; k < n_; ++k) {
      Slot& s = slot_[k];
      const BoundOperand& o = call.operands[std::size_t(k)];
      s.data = o.data;
      s.type = loop_.type[std::size_t(k)];
      s.memory_item = static_cast<std::int64_t>(itemsize(o.dtype));
      s.item = static_cast<std::int64_t>(itemsize(compute_dtype(s.type)));
      s.direct = is_direct(o.dtype, s.type);
      s.kept = kept[k];
      s.reduced = reduced[k];
      if (count_ == 0 && k < n_in_ && !is_zero(s.reduced)) set_zero(s);
      s.repeated = is_zero(s.reduced);
      s.constant = k < n_in_ && is_zero(s.kept);
      if (!s.direct && k < n_in_) s.load = Load(o.dtype, s.type);
      if (!s.direct && k >= n_in_) s.store = Store(s.type, o.dtype);
      all_direct &= s.direct;
    }
    if (is_for_columns()) plan_columns();
    else plan_rows(all_direct);
  }

  void run() const {
    if (column_width_ > 0) return run_columns();
    const std::int64_t grain = kHeavyGrain / std::clamp<std::int64_t>(count_, 1, kHeavyGrain);
    for_ranges(rows_, grain, [&](std::int64_t b, std::int64_t e) {
      const Workspace memory(scratch_bytes_);
      alignas(64) std::byte stats[kStatsOnStack];
      const Workspace large_stats(table_.stats_bytes > kStatsOnStack ? table_.stats_bytes : 0);
      Scratch s{memory.data(), large_stats.data() ? large_stats.data() : stats, {}};
      set(s.row, b);
      if (interleaved_rows_ > 0) run_interleaved(s, e - b);
      else
        for (std::int64_t r = b; r < e; ++r) run_in_pieces(s);
    });
  }

 private:
  struct Slot {
    std::byte* data;
    Dtype type;
    bool direct, repeated;  // repeated: one element per row
    bool constant = false;  // the same for all rows
    bool buffered = false;  // elements pass through a buffer: whole rows, or tiles of them
    std::int64_t memory_item, item;
    std::size_t buffer = 0, bits = 0;  // offsets in the scratch memory; bits: of the tile in the dtype of the memory
    std::int64_t elements = 0;         // elements of a row in its tile or buffer
    Strides kept, reduced;
    Load load;
    Store store;
  };
  // The addresses at which the operands of a row begin. Rows are visited in order.
  struct Row {
    std::byte* at[kMaxOperands];
    std::int64_t position[catena::kMaxRank];
  };
  struct Scratch {
    std::byte* memory;
    std::byte* stats;
    Row row;
  };

  // Calls f for ranges of groups: on several threads, or on one if sums are added up in one array.
  template <class F> void for_ranges(std::int64_t groups, std::int64_t grain, F&& f) const {
    if (sums_ != nullptr) f(std::int64_t(0), groups);
    else catena::parallel_for(groups, grain, f);
  }

  static bool is_zero(const Strides& strides) {
    return std::all_of(strides.begin(), strides.end(), [](std::int64_t x) { return x == 0; });
  }

  // The finishing functions read the first elements of the inputs, which rows without elements do not have. (Such calls
  // come from backends' tests; the call layer executes none.)
  static void set_zero(Slot& s) {
    alignas(16) static constexpr std::byte zero[16]{};
    s.data = const_cast<std::byte*>(zero);
    s.kept = Strides::filled(s.kept.size(), 0);
    s.reduced = Strides::filled(s.reduced.size(), 0);
  }

  // True if each lane of a vector computes one row. This is done for short rows, and for rows that are neighbours in
  // memory, because reading along such a row would load a cache line for every element.
  bool is_for_columns() const {
    if (count_ == 0) return false;
    // Few rows leave vectors partly empty, and filling the tiles of operands that all rows share then costs more than
    // it gains, unless rows are short.
    if (sums_ != nullptr) return row_sum_lanes(table_, count_) > 1;
    const std::int64_t fewest = count_ <= catena::kLanes ? table_.rows_per_vector() / 2 : 6 * table_.rows_per_vector();
    if (count_ <= kLongestColumn) return rows_ >= fewest;
    if (count_ > kBufferedRow || reduced_.size() > 1 || rows_ < table_.rows_per_vector()) return false;
    return kept_.back() >= table_.rows_per_vector() && std::any_of(slot_, slot_ + n_in_ + n_out_, [](const Slot& s) {
             return !s.repeated && s.kept.back() == s.memory_item && std::llabs(s.reduced.back()) > s.memory_item;
           });
  }
  // True if the rows are neighbours in memory and the loops can read them in place.
  bool is_column(const Slot& s) const {
    return s.direct && reduced_.size() <= 1 && !kept_.empty() && s.kept.back() == s.memory_item;
  }

  // Number of rows of the whole call, of which this one may be a block.
  std::int64_t all_rows() const { return sums_ != nullptr ? sums_->rows : rows_; }

  void plan_columns() {
    fetches_ahead_ = all_rows() * count_ * slot_[0].item >= kFetchedTransposed;
    const std::int64_t least = table_.rows_per_vector();
    const std::int64_t most = kColumnTile / (count_ * slot_[0].item) / least * least;
    column_width_ = std::clamp<std::int64_t>(most, least, kMostColumns * least);
    column_width_ = std::min(column_width_, (rows_ + least - 1) / least * least);
    for (int k = 0; k < n_; ++k) {
      Slot& s = slot_[k];
      s.elements = s.repeated ? 1 : count_;
      s.buffer = scratch_bytes_;
      scratch_bytes_ += round_up_64(std::size_t(s.elements * column_width_ * s.item));
      s.bits = s.buffer;
      if (s.direct) continue;
      s.bits = scratch_bytes_;
      scratch_bytes_ += round_up_64(std::size_t(s.elements * column_width_ * s.memory_item));
    }
  }

  void plan_rows(bool all_direct) {
    const bool one_segment = reduced_.size() <= 1;
    bool transposed = false, spread = all_direct;
    for (int k = 0; k < n_in_ + n_out_; ++k) {
      transposed |= is_transposed(slot_[k]);
      spread &= slot_[k].repeated || is_contiguous(slot_[k]) || is_spread(slot_[k]);
    }
    const bool whole = (all_direct && one_segment) || count_ <= (transposed || spread ? kTransposedRow : kBufferedRow);
    for (int k = 0; k < n_; ++k) {
      Slot& s = slot_[k];
      s.elements = s.repeated ? 1 : whole ? count_ : kTile;
      s.buffered = !s.direct || (whole && !s.repeated && !one_segment && !is_contiguous(s));
    }
    if (whole && sums_ == nullptr) put_sharing_rows_together();
    if (whole) plan_interleaving(all_direct && one_segment);
    for (int k = 0; k < n_; ++k) {
      Slot& s = slot_[k];
      s.buffer = scratch_bytes_;
      if (s.buffered)
        scratch_bytes_ += round_up_64(std::size_t(std::max<std::int64_t>(1, interleaved_rows_) * s.elements * s.item));
    }
    // Phase 1 may store its results in the output if all elements of an output row can be addressed at once.
    kept_mapped_ = table_.keeps() && (whole || slot_[n_in_].direct);
  }

  // Orders the rows so that those with the same elements of a buffered input follow each other: these elements are then
  // gathered once.
  void put_sharing_rows_together() {
    const auto is_shared = [&](int axis) {
      return std::any_of(slot_, slot_ + n_in_,
                         [&](const Slot& s) { return s.buffered && !s.repeated && !s.constant && s.kept[axis] == 0; });
    };
    catena::Dims order;
    for (const bool shared : {false, true})
      for (int a = 0; a < kept_.size(); ++a)
        if (is_shared(a) == shared) order.push_back(a);
    const auto reorder = [&](auto& list) {
      const auto before = list;
      for (int a = 0; a < order.size(); ++a) list[a] = before[int(order[a])];
    };
    reorder(kept_);
    for (int k = 0; k < n_; ++k) reorder(slot_[k].kept);
  }

  void plan_interleaving(bool in_place) {
    const int shared = sums_ != nullptr ? table_.nsums : 0;
    std::int64_t of_row = 0, of_all = shared * count_ * slot_[0].item;
    for (int k = 0; k < n_; ++k)
      if (!slot_[k].repeated) (slot_[k].constant ? of_all : of_row) += count_ * slot_[k].item;
    const auto stats = static_cast<std::int64_t>(kStatsOnStack / table_.stats_bytes);
    const std::int64_t fit = (kInterleavedBytes - of_all) / std::max<std::int64_t>(1, of_row);
    interleaved_rows_ = std::max<std::int64_t>(1, std::min({stats, kMostInterleavedRows, fit}));
    fetches_ahead_ = in_place && of_row <= kInterleavedBytes && count_ * slot_[0].item >= kFetchedRow &&
                     of_row * all_rows() >= kFetchedBytes;
  }

  bool is_contiguous(const Slot& s) const {
    std::int64_t step = s.memory_item;
    for (int a = reduced_.size() - 1; a >= 0; --a) {
      if (s.reduced[a] != step) return false;
      step *= reduced_[a];
    }
    return true;
  }
  // True if a row is a matrix that is transposed in memory, such as the channels and positions of an image whose
  // channels are last.
  bool is_transposed(const Slot& s) const {
    return s.direct && reduced_.size() == 2 && s.reduced[0] == s.memory_item && s.reduced[1] > s.memory_item;
  }

  // True if the elements of a row are few, each of them repeated along the innermost axis.
  bool is_spread(const Slot& s) const { return s.direct && reduced_.size() > 1 && s.reduced.back() == 0; }

  std::int64_t row_offset(const Slot& s, std::int64_t row) const {
    std::int64_t offset = 0;
    for (int a = kept_.size() - 1; a >= 0; --a) {
      offset += row % kept_[a] * s.kept[a];
      row /= kept_[a];
    }
    return offset;
  }

  void set(Row& r, std::int64_t row) const {
    for (int k = 0; k < n_; ++k) r.at[k] = slot_[k].data + row_offset(slot_[k], row);
    for (int a = kept_.size() - 1; a >= 0; --a) {
      r.position[a] = row % kept_[a];
      row /= kept_[a];
    }
  }
  void advance(Row& r) const {
    for (int a = kept_.size() - 1; a >= 0; --a) {
      const bool wraps = ++r.position[a] == kept_[a];
      const std::int64_t steps = wraps ? 1 - kept_[a] : 1;
      for (int k = 0; k < n_; ++k) r.at[k] += steps * slot_[k].kept[a];
      if (!wraps) return;
      r.position[a] = 0;
    }
  }

  // Calls f(position, j, n, i) for runs of at most `most` elements along the innermost reduced axis. `position`: the
  // outer reduced axes; j: the first element along the innermost axis; i: its number in the row.
  template <class F> void for_each_run(std::int64_t most, F&& f) const {
    const std::int64_t inner = reduced_.empty() ? 1 : reduced_.back();
    std::int64_t position[catena::kMaxRank] = {};
    for (std::int64_t i = 0; i < count_; i += inner) {
      for (std::int64_t j = 0; j < inner; j += most) f(position, j, std::min(most, inner - j), i + j);
      for (int a = reduced_.size() - 2; a >= 0; --a) {
        if (++position[a] < reduced_[a]) break;
        position[a] = 0;
      }
    }
  }
  std::int64_t run_offset(const Slot& s, const std::int64_t* position, std::int64_t j) const {
    std::int64_t offset = reduced_.empty() ? 0 : j * s.reduced.back();
    for (int a = 0; a < reduced_.size() - 1; ++a) offset += position[a] * s.reduced[a];
    return offset;
  }
  static std::int64_t inner_stride(const Slot& s) { return s.reduced.empty() ? 0 : s.reduced.back(); }

  // ---- the three passes --------------------------------------------------------------------------
  // visit(pass, f) must call f(ptr, stride, n, position) for all segments of the row.
  template <class Visit> void run_pass(int pass, std::byte* stats, Visit&& visit) const {
    if (pass == 0) {
      table_.init(stats);
      visit(0, [&](std::byte* const* p, const std::int64_t* st, std::int64_t n, std::int64_t) {
        table_.phase0(stats, p, st, n);
      });
    } else if (pass == 1) {
      if (table_.phases == 2)
        visit(1, [&](std::byte* const* p, const std::int64_t* st, std::int64_t n, std::int64_t) {
          kept_mapped_ ? table_.phase1_kept(stats, p, st, n) : table_.phase1(stats, p, st, n);
        });
    } else if (n_out_ > 0) {
      visit(2, [&](std::byte* const* p, const std::int64_t* st, std::int64_t n, std::int64_t i) {
        if (sums_ != nullptr) return write_sums(stats, p, st, n, i);
        kept_mapped_ ? table_.write_kept(stats, p, st, n) : table_.write(stats, p, st, n);
      });
    }
  }
  void write_sums(const std::byte* stats, std::byte* const* p, const std::int64_t* stride, std::int64_t n,
                  std::int64_t position) const {
    std::byte* at[catena::kMaxRowSums];
    for (int k = 0; k < table_.nsums; ++k) at[k] = sums_->at[k] + position * slot_[0].item;
    table_.write_sums(stats, p, stride, at, n);
  }
  // ---- neighbouring rows, computed in vectors ----------------------------------------------------
  void run_columns() const {
    const std::int64_t groups = (rows_ + column_width_ - 1) / column_width_;
    const std::int64_t grain = std::max<std::int64_t>(1, kHeavyGrain / (count_ * column_width_));
    for_ranges(groups, grain, [&](std::int64_t b, std::int64_t e) {
      const Workspace memory(scratch_bytes_);
      for (int k = 0; k < n_in_; ++k)
        if (slot_[k].constant) load_columns(slot_[k], memory.data(), 0, column_width_, column_width_);
      for (std::int64_t g = b; g < e; ++g)
        run_group(memory.data(), g * column_width_, std::min(column_width_, rows_ - g * column_width_));
    });
  }

  void run_group(std::byte* memory, std::int64_t first, std::int64_t m) const {
    const std::int64_t least = table_.rows_per_vector(), width = (m + least - 1) / least * least;
    std::byte* ptr[kMaxOperands];
    std::int64_t step[kMaxOperands];
    bool stored[kMaxOperands] = {};
    for (int k = 0; k < n_; ++k) {
      const Slot& s = slot_[k];
      ptr[k] = memory + s.buffer;
      step[k] = s.repeated ? 0 : (s.constant ? column_width_ : width) * s.item;
      if (s.constant) continue;
      // Long columns are copied: reading them in place in every pass would load cache lines that evict each other.
      if (count_ <= kLongestColumn && is_column(s) && width == m && first % kept_.back() + m <= kept_.back()) {
        ptr[k] = s.data + row_offset(s, first);
        step[k] = inner_stride(s);
      } else if (k < n_in_) {
        load_columns(s, memory, first, m, width);
      } else {
        stored[k] = true;
      }
    }
    if (sums_ != nullptr) table_.columns_sums(ptr, step, count_, width, sums_->at, m);
    else table_.columns(ptr, step, count_, width);
    for (int k = n_in_; k < n_; ++k)
      if (stored[k]) store_columns(slot_[k], memory, first, m, width);
  }

  // Calls f(at, memory, rows, elements) for the parts of a group that have one stride along the rows and one along the
  // elements. `at` is the offset of the part in the tile.
  template <class F>
  void for_each_part(const Slot& s, std::int64_t first, std::int64_t m, std::int64_t width, F&& f) const {
    for (std::int64_t j = 0, r; j < m; j += r) {
      const std::int64_t inner = kept_.empty() ? 1 : kept_.back();
      r = std::min(m - j, inner - (first + j) % inner);
      std::byte* const rows = s.data + row_offset(s, first + j);
      if (s.repeated) {
        f(j * s.memory_item, rows, r, 1);
        continue;
      }
      for_each_run(INT64_MAX, [&](const std::int64_t* position, std::int64_t, std::int64_t n, std::int64_t i) {
        f((i * width + j) * s.memory_item, rows + run_offset(s, position, 0), r, n);
      });
    }
  }
  // The memory layout of a part.
  enum class Layout { transposed, rows, strided };
  Layout layout_of(const Slot& s, std::int64_t elements) const {
    if (elements > 1 && inner_stride(s) == s.memory_item) return Layout::transposed;
    return !kept_.empty() && s.kept.back() == s.memory_item ? Layout::rows : Layout::strided;
  }

  // Distance in bytes from a group of rows to the next one, for prefetching; 0: no prefetching.
  std::int64_t ahead(std::int64_t bytes) const { return fetches_ahead_ ? bytes : 0; }

  // Loads m rows, starting with row `first`, into a tile. The unused width of the tile repeats the last row.
  void load_columns(const Slot& s, std::byte* memory, std::int64_t first, std::int64_t m, std::int64_t width) const {
    const std::int64_t item = s.memory_item, pitch = width * item;
    const std::int64_t stride = kept_.empty() ? 0 : s.kept.back(), inner = s.repeated ? 0 : inner_stride(s);
    std::byte* const tile = memory + s.bits;
    const CastFn copy = catena::copy_function(std::size_t(item));
    for_each_part(s, first, s.constant ? 1 : m, width,
                  [&](std::int64_t at, const std::byte* from, std::int64_t rows, std::int64_t n) {
                    std::byte* const to = tile + at;
                    const Layout layout = layout_of(s, n);
                    if (layout == Layout::transposed)
                      transpose_block(to, pitch, from, stride, n, rows, std::size_t(item), ahead(stride * width), 0);
                    else if (layout == Layout::rows) copy_rows(to, pitch, from, inner, n, rows * item);
                    else
                      for (std::int64_t i = 0; i < n; ++i) copy(from + i * inner, stride, to + i * pitch, item, rows);
                  });
    const std::int64_t filled = s.constant ? 1 : m;
    for (std::int64_t i = 0; i < s.elements && filled < width; ++i) {
      std::byte* const row = tile + i * pitch;
      copy(row + (filled - 1) * item, 0, row + filled * item, item, width - filled);
    }
    if (!s.direct) s.load(tile, item, memory + s.buffer, s.elements * width);
  }
  void store_columns(const Slot& s, std::byte* memory, std::int64_t first, std::int64_t m, std::int64_t width) const {
    const std::int64_t item = s.memory_item, pitch = width * item;
    const std::int64_t stride = kept_.empty() ? 0 : s.kept.back(), inner = s.repeated ? 0 : inner_stride(s);
    const std::byte* const tile = memory + s.bits;
    const CastFn copy = catena::copy_function(std::size_t(item));
    if (!s.direct) s.store(memory + s.buffer, memory + s.bits, item, s.elements * width);
    for_each_part(s, first, m, width, [&](std::int64_t at, std::byte* to, std::int64_t rows, std::int64_t n) {
      const std::byte* const from = tile + at;
      const Layout layout = layout_of(s, n);
      if (layout == Layout::transposed)
        transpose_block(to, stride, from, pitch, rows, n, std::size_t(item), 0, ahead(stride * width));
      else if (layout == Layout::rows) copy_rows(to, inner, from, pitch, n, rows * item);
      else
        for (std::int64_t i = 0; i < n; ++i) copy(from + i * pitch, item, to + i * inner, stride, rows);
    });
  }

  // ---- whole rows --------------------------------------------------------------------------------
  void gather_row(const Slot& s, const std::byte* from, std::byte* to) const {
    if (s.repeated) return s.load(from, 0, to, 1);
    if (is_transposed(s))
      return transpose_block(to, reduced_[1] * s.item, from, s.reduced[1], reduced_[0], reduced_[1],
                             std::size_t(s.item));
    const CastFn bits = s.direct ? catena::cast_function(s.type, s.type) : nullptr;
    for_each_run(count_, [&](const std::int64_t* position, std::int64_t j, std::int64_t n, std::int64_t i) {
      const std::byte* p = from + run_offset(s, position, j);
      if (bits) bits(p, inner_stride(s), to + i * s.item, s.item, n);
      else s.load(p, inner_stride(s), to + i * s.item, n);
    });
  }
  void scatter_row(const Slot& s, const std::byte* from, std::byte* to) const {
    if (s.repeated) return s.store(from, to, 0, 1);
    if (is_transposed(s))
      return transpose_block(to, s.reduced[1], from, reduced_[1] * s.item, reduced_[1], reduced_[0],
                             std::size_t(s.item));
    const CastFn bits = s.direct ? catena::cast_function(s.type, s.type) : nullptr;
    for_each_run(count_, [&](const std::int64_t* position, std::int64_t j, std::int64_t n, std::int64_t i) {
      std::byte* p = to + run_offset(s, position, j);
      if (bits) bits(from + i * s.item, s.item, p, inner_stride(s), n);
      else s.store(from + i * s.item, p, inner_stride(s), n);
    });
  }

  // Runs each pass over a few rows before the next pass: until the last sums, the square root or loaded elements of a
  // row are available, the processor computes the next rows.
  void run_interleaved(Scratch& scratch, std::int64_t rows) const {
    std::byte *memory_at[kMostInterleavedRows][kMaxOperands], *at[kMostInterleavedRows][kMaxOperands];
    std::int64_t stride[kMaxOperands];
    for (int k = 0; k < n_; ++k) {
      const Slot& s = slot_[k];
      stride[k] = s.repeated ? 0 : s.buffered ? s.item : inner_stride(s);
      if (s.buffered && s.constant) gather_row(s, s.data, scratch.memory + s.buffer);
    }
    // For each input, the elements that were gathered last, and the buffer with them. Other elements are gathered into
    // the next buffer, so that the elements of earlier rows of this round stay.
    const std::byte* gathered[kMaxOperands] = {};
    std::int64_t buffer[kMaxOperands] = {};
    const auto gather = [&](const Slot& s, int k, const std::byte* from) {
      std::byte* const buffers = scratch.memory + s.buffer;
      if (from == gathered[k]) return buffers + buffer[k] * s.elements * s.item;
      gathered[k] = from;
      buffer[k] = (buffer[k] + 1) % interleaved_rows_;
      std::byte* const to = buffers + buffer[k] * s.elements * s.item;
      gather_row(s, from, to);
      return to;
    };
    const auto stats_of = [&](std::int64_t i) { return scratch.stats + i * std::int64_t(table_.stats_bytes); };
    while (rows > 0) {
      const std::int64_t n = std::min(rows, interleaved_rows_);
      for (std::int64_t i = 0; i < n; ++i) {
        std::copy_n(scratch.row.at, n_, memory_at[i]);
        for (int k = 0; k < n_; ++k) {
          const Slot& s = slot_[k];
          if (!s.buffered) at[i][k] = memory_at[i][k];
          else if (s.constant || k >= n_in_)
            at[i][k] = scratch.memory + s.buffer + (s.constant ? 0 : i * s.elements * s.item);
          else at[i][k] = gather(s, k, memory_at[i][k]);
        }
        advance(scratch.row);
      }
      rows -= n;
      for (int pass = 0; pass < 3; ++pass) {
        for (std::int64_t i = 0; i < n; ++i) {
          if (pass > 0 && i < rows) fetch_ahead(scratch.row, i, pass - 1);
          run_pass(pass, stats_of(i), [&](int, auto&& f) { f(at[i], stride, count_, 0); });
        }
        if (pass < 2) table_.finish[pass](scratch.stats, at[0], n, count_);
      }
      for (int k = n_in_; k < n_; ++k)
        for (std::int64_t i = 0; i < n && slot_[k].buffered; ++i) scatter_row(slot_[k], at[i][k], memory_at[i][k]);
    }
  }
  // Prefetches one half of the data that row i after this one reads and writes, if rows are evenly spaced. Outputs are
  // prefetched like inputs, because stores also wait for their cache lines.
  void fetch_ahead(const Row& r, std::int64_t i, int half) const {
    if (!fetches_ahead_) return;
    for (int k = 0; k < n_in_ + n_out_; ++k) {
      const Slot& s = slot_[k];
      if (s.repeated || s.kept.back() == 0) continue;
      const std::int64_t middle = count_ / 2 * s.item, end = half == 0 ? middle : count_ * s.item;
      const std::byte* p = r.at[k] + i * s.kept.back();
      for (std::int64_t j = half == 0 ? 0 : middle; j < end; j += kLine) fetch_line(p + j);
    }
  }

  // ---- long rows that are not contiguous, or that are converted -----------------------------------
  void run_in_pieces(Scratch& scratch) const {
    std::byte* const* at = scratch.row.at;
    std::byte* first[kMaxOperands];
    // The finishing functions read the first elements.
    const auto load_first = [&] {
      for (int k = 0; k < n_; ++k) {
        const Slot& s = slot_[k];
        first[k] = s.buffered ? scratch.memory + s.buffer : at[k];
        if (s.buffered && k < n_in_) s.load(at[k], 0, first[k], 1);
      }
    };
    bool in_place = true;
    for (int k = 0; k < n_; ++k) in_place &= !slot_[k].buffered || slot_[k].repeated;
    const auto each_piece = [&](int pass, auto&& f) {
      for_each_run(in_place ? INT64_MAX : kTile,
                   [&](const std::int64_t* position, std::int64_t j, std::int64_t n, std::int64_t i) {
                     std::byte* ptr[kMaxOperands];
                     std::int64_t stride[kMaxOperands];
                     for (int k = 0; k < n_; ++k) {
                       const Slot& s = slot_[k];
                       std::byte* const p = s.repeated ? first[k] : at[k] + run_offset(s, position, j);
                       ptr[k] = s.buffered ? first[k] : p;
                       stride[k] = s.repeated ? 0 : s.buffered ? s.item : inner_stride(s);
                       if (s.buffered && !s.repeated && k < n_in_) s.load(p, inner_stride(s), ptr[k], n);
                     }
                     f(ptr, stride, n, i);
                     for (int k = n_in_; k < n_in_ + n_out_ && pass == 2; ++k) {
                       const Slot& s = slot_[k];
                       if (s.buffered) s.store(ptr[k], at[k] + run_offset(s, position, j), inner_stride(s), n);
                     }
                   });
    };
    for (int pass = 0; pass < 3; ++pass) {
      if (pass == 0) load_first();
      run_pass(pass, scratch.stats, each_piece);
      if (pass == 2) break;
      load_first();
      table_.finish[pass](scratch.stats, first, 1, count_);
    }
    for (int k = n_in_ + n_out_; k < n_; ++k)
      if (slot_[k].buffered) slot_[k].store(first[k], at[k], 0, 1);
    advance(scratch.row);
  }

  const RowSums* const sums_;
  const catena::Loop& loop_;
  const catena::RowWiseLoop& table_;
  int n_in_, n_out_, n_ = 0;
  Shape kept_, reduced_;
  std::int64_t count_ = 0, rows_ = 0;
  std::int64_t column_width_ = 0;      // neighbouring rows per group; 0: rows are computed one by one
  std::int64_t interleaved_rows_ = 0;  // rows per phase; 0: rows are computed in pieces
  bool kept_mapped_ = false;
  bool fetches_ahead_ = false;  // operands are in memory rather than in a cache
  std::size_t scratch_bytes_ = 0;
  Slot slot_[kMaxOperands];
};

}  // namespace

std::int64_t row_sum_lanes(const catena::RowWiseLoop& loop, std::int64_t count) {
  return count <= kLongestColumn ? loop.rows_per_vector() : 1;
}
void rows_with_sums(const catena::bound::RowWise& call, const RowSums& sums) { RowWiseRun(call, &sums).run(); }

void run(const catena::bound::RowWise& call) { RowWiseRun(call).run(); }

}  // namespace nd::cpu
