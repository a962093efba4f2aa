#include <catena/nn/chain_list.h>

#include <catena/nn/link_hook.h>

namespace nn {

Link& ChainList::operator[](std::int64_t i) const {
  const auto n = static_cast<std::int64_t>(links_.size());
  catena::check<catena::IndexError>(i >= -n && i < n, "ChainList", "the index ", i, " is out of range for ", n,
                                    " links");
  return links_[static_cast<std::size_t>(i < 0 ? i + n : i)].get();
}

std::vector<Link*> ChainList::operator[](const catena::Slice& slice) const {
  const catena::SliceRange range = catena::resolve_slice("ChainList", slice, static_cast<std::int64_t>(links_.size()));
  std::vector<Link*> result;
  for (std::int64_t k = 0; k < range.length; ++k)
    result.push_back(&links_[static_cast<std::size_t>(range.start + k * range.step)].get());
  return result;
}

void ChainList::name_last() { set_name(links_.back().get(), std::to_string(links_.size() - 1)); }

void ChainList::visit_declared(MemberVisitor& v) {
  for (std::size_t i = 0; i < links_.size(); ++i) v.link(std::to_string(i), links_[i].get());
}

Variable ChainList::call(const Variables& args) {
  catena::check<catena::ValueError>(!links_.empty(), "ChainList", "there are no links to call");
  const internal::CallScope scope(*this);
  LinkCall called(*this, args);
  Variables values = args;
  for (const internal::AnyLink& l : links_) values = {l.get().call(values)};
  return called(values[0]);
}

}  // namespace nn
