// Sorts. Rows are independent and shared among threads; a few rows are copied together if neighbouring rows are
// neighbours in memory. Short rows pass through a sorting network; long rows are partitioned first. The result is
// always the one of a stable sort: see ValueKeys. If only some positions of the sorted rows matter, long rows are
// partitioned only as far as necessary.
#include <utility>

#include <catena/kernels/registry/multiarch.h>
#include <catena/ndarray/cpu/along_axis.h>
#include <catena/ndarray/cpu/copy.h>
#include <catena/ndarray/cpu/quicksort.h>
#include <catena/ndarray/cpu/run.h>
#include <catena/ndarray/cpu/sort_network.h>
#include <catena/ndarray/cpu/sort_rows.h>
#include <catena/ndarray/cpu/tuning.h>
#include <catena/ndarray/cpu/workspace.h>

namespace nd::cpu {
namespace {

// The keys by which networks and partitions sort. They are not stable, so equal keys must stand for identical elements.
// The key of a value is its number, with two exceptions: the bits of NaNs are lost, and zeros of both signs keep their
// order of appearance. mend() restores these in rows that have them. The key of a position combines the number of its
// element with the position.
template <class E> struct ValueKeys : NumberOf<E> {
  using Base = NumberOf<E>;
  using typename Base::Bits;
  using Element = Bits;
  using Key = typename Base::Number;
  using Base::is_nan;
  using Base::is_zero;
  using Base::top;
  static constexpr bool floating = Base::floating;
  static constexpr bool is_element = std::is_same_v<Key, E>;  // the key of an element is the element itself

  // 1 if mend() must place this element.
  static ND_FN Bits keeps_place(Bits bits) {
    if constexpr (floating) return is_nan(bits) | Base::is_negative_zero(bits);
    else return 0;
  }
  static ND_FN Key key(Bits bits, std::int64_t) { return Base::number(bits); }
  static void mend(const std::byte* in, std::int64_t in_step, std::byte* out, std::int64_t out_step, std::int64_t n) {
    if constexpr (floating) {
      std::int64_t nan = n, zero = 0;  // positions of the first NaN and the first zero
      for (std::int64_t i = 0; i < n; ++i) {
        const Bits bits = load_bits<Bits>(in + i * in_step);
        nan -= is_nan(bits);
        zero += top(bits) && !is_nan(bits) && !is_zero(bits);
      }
      for (std::int64_t i = 0; i < n; ++i) {
        const Bits bits = load_bits<Bits>(in + i * in_step);
        if (is_nan(bits)) std::memcpy(out + nan++ * out_step, &bits, sizeof(bits));
        else if (is_zero(bits)) std::memcpy(out + zero++ * out_step, &bits, sizeof(bits));
      }
    }
  }
};
template <class E> struct PositionKeys {
  using Bits = BitsOf<E>;
  using Element = std::int64_t;
  using Key = std::int64_t;
  static_assert(sizeof(E) <= 4);

  static constexpr bool floating = false;  // keys have positions in place of bits
  static constexpr bool is_element = false;
  static ND_FN Bits keeps_place(Bits) { return 0; }
  static ND_FN Key key(Bits bits, std::int64_t i) {
    return Key(std::uint64_t(std::uint32_t(NumberOf<E>::place_number(bits))) << 32 | std::uint64_t(i));
  }
  static ND_FN Element element(Key key) { return key & 0xffffffff; }
  static void mend(const std::byte*, std::int64_t, std::byte*, std::int64_t, std::int64_t) {}
};

template <class Keys> class KeySort {
 public:
  using Key = typename Keys::Key;
  using Bits = typename Keys::Bits;
  using Element = typename Keys::Element;

  explicit KeySort(const RowsToSort& call) : call_(call), n_(call.length), rows_per_vector_(n_ < kSideBySide) {}

  void run() const {
    const std::int64_t longest = sizeof(Key) == 8 ? kNetworkTo / 2 : kNetworkTo;
    if (n_ > (call_.kth.empty() ? longest : kSelectedTo)) return run_long();
    const std::int64_t row_bytes = vectors_ * lanes_ * std::int64_t(sizeof(Key));
    const std::int64_t together = rows_per_vector_ ? lanes_ : call_.together(row_bytes, sizeof(Bits), kNetworkBytes);
    call_.share([&](std::int64_t begin, std::int64_t end) {
      call_.each_block(begin, end, together, [&](const Block& b) {
        if (rows_per_vector_) sort_side_by_side(b);
        else sort_each(b);
      });
    });
  }

 private:
  // The load functions return a mask of the rows that have elements which mend() must place: bit k for row k.
  template <class At> std::uint64_t load(const Block& b, At&& at) const {
    std::uint64_t mend = 0;
    for (std::int64_t i = 0; i < n_; ++i)
      for (std::int64_t k = 0; k < b.rows; ++k) {
        const Bits bits = load_bits<Bits>(b.in + i * call_.in_step + k * b.in_stride);
        mend |= std::uint64_t(Keys::keeps_place(bits)) << k;
        at(i, k) = Keys::key(bits, i);
      }
    return mend;
  }
  std::uint64_t load_rows(const Block& b, Key* keys, std::int64_t pitch) const {
    if (b.rows == 1 && call_.in_step == std::int64_t(sizeof(Bits))) return load_row(b.in, keys, n_);
    return load(b, [&](std::int64_t i, std::int64_t k) -> Key& { return keys[k * pitch + i]; });
  }
  CATENA_MULTIARCH static std::uint64_t load_row(const std::byte* in, Key* keys, std::int64_t n) {
    Bits mend = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const Bits bits = load_bits<Bits>(in + i * std::int64_t(sizeof(Bits)));
      mend |= Keys::keeps_place(bits);
      keys[i] = Keys::key(bits, i);
    }
    return mend != 0;
  }
  static ND_FN void store(std::byte* to, Key key) {
    const Element e = Keys::element(key);
    std::memcpy(to, &e, sizeof(e));
  }
  CATENA_MULTIARCH static void store_row(const Key* keys, std::byte* out, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i) store(out + i * std::int64_t(sizeof(Element)), keys[i]);
  }
  void store_keys(const Key* keys, std::byte* out, std::int64_t n) const {
    if (call_.out_step == std::int64_t(sizeof(Element))) return store_row(keys, out, n);
    for (std::int64_t i = 0; i < n; ++i) store(out + i * call_.out_step, keys[i]);
  }
  void mend(const Block& b, std::uint64_t which) const {
    for (std::int64_t k = 0; which != 0; ++k, which >>= 1)
      if (which & 1) Keys::mend(b.in + k * b.in_stride, call_.in_step, b.out + k * b.out_stride, call_.out_step, n_);
  }

  [[gnu::noinline]] void sort_side_by_side(const Block& b) const {
    alignas(64) Key keys[kSideBySide * 64 / sizeof(Key)];
    if (b.rows < lanes_) std::fill_n(keys, n_ * lanes_, Key(0));
    const std::uint64_t which = load(b, [&](std::int64_t i, std::int64_t k) -> Key& { return keys[i * lanes_ + k]; });
    network_.rows(keys, n_);
    for (std::int64_t k = 0; k < b.rows; ++k)
      for (std::int64_t i = 0; i < n_; ++i) store(b.out + i * call_.out_step + k * b.out_stride, keys[i * lanes_ + k]);
    mend(b, which);
  }

  [[gnu::noinline]] void sort_each(const Block& b) const {
    alignas(64) Key keys[kNetworkBytes / sizeof(Key)], sorted[kNetworkTo];
    const std::int64_t pitch = vectors_ * lanes_;
    const std::uint64_t which = load_rows(b, keys, pitch);
    for (std::int64_t k = 0; k < b.rows; ++k) {
      std::fill_n(keys + k * pitch + n_, pitch - n_, std::numeric_limits<Key>::max());
      network_.row(keys + k * pitch, vectors_, sorted);
      store_keys(sorted, b.out + k * b.out_stride, n_);
    }
    mend(b, which);
  }

  void run_long() const {
    const std::size_t row_bytes = round_up_64(std::size_t(n_) * sizeof(Key));
    const std::int64_t together = call_.together(std::int64_t(row_bytes), sizeof(Bits), kTogetherBytes);
    call_.share([&](std::int64_t begin, std::int64_t end) {
      const Workspace memory(std::size_t(together + 1) * row_bytes);
      auto* const keys = reinterpret_cast<Key*>(memory.data());
      call_.each_block(begin, end, together,
                       [&](const Block& b) { sort_long(b, keys, std::int64_t(row_bytes / sizeof(Key)), together); });
    });
  }
  // Sorts long rows. `keys` must hold b.rows + 1 rows of `pitch` keys each.
  [[gnu::noinline]] void sort_long(const Block& b, Key* keys, std::int64_t pitch, std::int64_t together) const {
    const bool reads_in_place = Keys::is_element && b.rows == 1 && call_.in_step == std::int64_t(sizeof(Key));
    std::uint64_t which = reads_in_place ? 0 : load_rows(b, keys, pitch);
    for (std::int64_t k = 0; k < b.rows; ++k) {
      std::byte* const out = b.out + k * b.out_stride;
      const auto store_part = [&](std::int64_t begin, const Key* sorted, std::int64_t n) {
        if (std::byte* const to = out + begin * call_.out_step; to != reinterpret_cast<const std::byte*>(sorted))
          store_keys(sorted, to, n);
      };
      const bool all = call_.kth.empty() || ((which >> k & 1) != 0 && has_nan(b.in + k * b.in_stride));
      Quicksort<Key, decltype(store_part)> sort(store_part, all ? std::span<const std::int64_t>() : call_.kth);
      Key* const spare = keys + together * pitch;
      // If the result is partitioned in place, parts that need no further sorting are often in their final position.
      const bool writes_in_place = call_.out_step == std::int64_t(sizeof(Key));
      if (reads_in_place)
        sort.run(reinterpret_cast<const Key*>(b.in), writes_in_place ? reinterpret_cast<Key*>(out) : keys, spare, n_);
      else sort.run(keys + k * pitch, spare, n_);
      if (!all) which &= ~(std::uint64_t(1) << k);
    }
    mend(b, which);
  }
  // The keys of NaNs have lost their bits, which only mend() restores, so a row with NaNs is sorted as a whole. A
  // negative zero has its own key, below the key of zero.
  bool has_nan(const std::byte* in) const {
    if constexpr (Keys::floating)
      for (std::int64_t i = 0; i < n_; ++i)
        if (Keys::is_nan(load_bits<Bits>(in + i * call_.in_step)) != 0) return true;
    return false;
  }

  const RowsToSort& call_;
  const SortNetwork<Key>& network_ = sort_network(Key());
  const std::int64_t n_;
  const bool rows_per_vector_;
  const std::int64_t lanes_ = network_.lanes;
  const std::int64_t vectors_ = network_.vectors_for(n_);  // vectors of a row
};

template <class E> void sort_as(const RowsToSort& call, bool positions) {
  if (!positions) return KeySort<ValueKeys<E>>(call).run();
  if constexpr (sizeof(E) <= 4)
    if (call.length <= std::numeric_limits<std::uint32_t>::max()) return KeySort<PositionKeys<E>>(call).run();
  sort_places(catena::dtype_of<E>, call);
}

// Sorts rows of one element: copies the elements, or stores position 0.
void sort_single_elements(const catena::bound::Sort& call) {
  alignas(16) const std::byte zero[sizeof(std::int64_t)] = {};
  const catena::Strides repeated = catena::Strides::filled(call.in.shape->size(), 0);
  copy_elements(call.out.data, *call.out.strides, call.positions ? zero : call.in.data,
                call.positions ? repeated : *call.in.strides, *call.in.shape, catena::itemsize(call.out.dtype));
}

}  // namespace

void run(const catena::bound::Sort& call) {
  if (catena::size_of(*call.in.shape) == 0) return;
  if ((*call.in.shape)[call.axis] == 1) return sort_single_elements(call);
  const Walk rows = walk_rows(call.in, call.out, call.axis);
  const RowsToSort all{rows, (*call.in.shape)[call.axis], (*call.in.strides)[call.axis], (*call.out.strides)[call.axis],
                       call.kth};
  catena::visit_real_dtype("sort", call.in.dtype,
                           [&](auto tag) { sort_as<typename decltype(tag)::type>(all, call.positions); });
}

}  // namespace nd::cpu
