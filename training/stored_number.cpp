#include <catena/training/stored_number.h>

#include <catena/kernels/base/error.h>

namespace training::internal {
namespace {

constexpr std::int64_t kMost = std::int64_t(1) << 53;  // double represents it exactly

// False for NaN, too.
template <class T>
void serialize_number(nn::Serializer& s, std::string_view key, T& value, std::string_view who, T least) {
  T stored = value;
  s(key, stored);
  if (s.is_writer()) return;
  catena::check<catena::ValueError>(stored >= least && stored <= static_cast<T>(kMost), who, "the stored ", key, " is ",
                                    stored, ", which is not within ", least, " and 2^53");
  value = stored;
}

}  // namespace

void serialize_count(nn::Serializer& s, std::string_view key, std::int64_t& value, std::string_view who) {
  serialize_number<std::int64_t>(s, key, value, who, 0);
}

void serialize_progress(nn::Serializer& s, std::string_view key, double& value, std::string_view who) {
  serialize_number<double>(s, key, value, who, -1);
}

}  // namespace training::internal
