#include <catena/training/multi_node/persistent.h>

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace training {

namespace {

struct NamedArray {
  std::string path;
  Array array;
};

// Collects the floating persistents of a model, those that several members share once.
class FloatingPersistents final : public nn::MemberVisitor {
 public:
  FloatingPersistents(std::vector<NamedArray>& found, std::string path) : found_(found), path_(std::move(path)) {}
  void persistent(std::string_view name, nn::Persistent& v) override {
    const Array& a = v.array();
    if (!a || !catena::is_floating(a.dtype())) return;
    if (std::any_of(found_.begin(), found_.end(), [&](const NamedArray& f) { return f.array.get() == a.get(); }))
      return;
    found_.push_back({at(name), a});
  }
  // The numbers among the persistents are no arrays, so they are not visited here.
  void persistent(std::string_view, bool&) override {}
  void persistent(std::string_view, std::int64_t&) override {}
  void persistent(std::string_view, double&) override {}
  void persistent(std::string_view, std::string&) override {}
  void link(std::string_view name, nn::Link& child) override {
    FloatingPersistents of_child(found_, at(name));
    child.visit_members(of_child);
  }

 private:
  std::string at(std::string_view name) const { return path_ + "/" + std::string(name); }
  std::vector<NamedArray>& found_;
  std::string path_;
};

// One message for all arrays of a dtype.
void average(const Communicator& comm, const std::vector<Array>& arrays, autograd::Dtype dtype) {
  std::vector<Array> flat;
  for (const Array& a : arrays) flat.push_back(autograd::reshape(autograd::astype(a, dtype), {a.size()}));
  const Array sum = comm.allreduce(autograd::concatenate(flat));
  std::int64_t begin = 0;
  for (const Array& a : arrays) {
    const Array own = autograd::slice(sum, 0, begin, begin + a.size());
    // The sums of "dummy" are this rank's own values.
    autograd::assign(a, autograd::reshape(own, a.shape()) / double(comm.name() == "dummy" ? 1 : comm.size()));
    begin += a.size();
  }
}

}  // namespace

AllreducePersistent::AllreducePersistent(Held<nn::Link> model, AnyCommunicator comm)
    : model_(std::move(model)), comm_(internal::checked("AllreducePersistent", comm)) {
  trigger = {1, epoch};
  priority = PRIORITY_WRITER + 1;
}

void AllreducePersistent::operator()() {
  std::vector<NamedArray> found;
  FloatingPersistents visitor(found, "");
  model_->visit_members(visitor);
  std::sort(found.begin(), found.end(), [](const NamedArray& a, const NamedArray& b) { return a.path < b.path; });
  std::map<autograd::Dtype, std::vector<Array>> by_dtype;
  for (const NamedArray& f : found) by_dtype[catena::compute_dtype(f.array.dtype())].push_back(f.array);
  for (const auto& [dtype, arrays] : by_dtype) average(*comm_, arrays, dtype);
}

}  // namespace training
