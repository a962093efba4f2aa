#include <catena/nn/summary.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <typeinfo>
#include <unordered_map>

#include <catena/autograd/debug.h>
#include <catena/nn/link_hook.h>

namespace nn {
namespace {

// Facts of the results of the last call, without the arrays, so that these are freed during the call of the model.
struct Outputs {
  std::vector<Shape> shapes = {};
  std::optional<Dtype> dtype = {};  // of the first result
  std::optional<Device> device = {};
  std::int64_t calls = 0;
};
using OutputsOfLinks = std::unordered_map<const Link*, Outputs>;

class RecordOutputs final : public LinkHook {
 public:
  std::string name() const override { return "summary"; }
  void forward_postprocess(Link& link, const Variables&, const Variables& outputs) override {
    Outputs last{.calls = of_links[&link].calls + 1};
    for (const Variable& y : outputs) {
      if (!y) continue;
      last.shapes.push_back(y.shape());
      if (!last.dtype) last.dtype = y.dtype();
      if (!last.device) last.device = y.device();
    }
    of_links[&link] = std::move(last);
  }
  OutputsOfLinks of_links;
};

// The link's own parameters.
class OwnParameters final : public MemberVisitor {
 public:
  void parameter(std::string_view, Parameter& p) override { list.push_back(&p); }
  std::vector<const Parameter*> list;
};

SummaryRow row_of(const NamedLink& named, const OutputsOfLinks& outputs) {
  SummaryRow row;
  row.path = named.path;
  row.depth = named.path == "/" ? 0 : int(std::count(named.path.begin(), named.path.end(), '/'));
  row.type = autograd::internal::class_name(typeid(*named.link));
  OwnParameters own;
  named.link->visit_members(own);
  for (const Parameter* p : own.list) {
    row.has_uninitialized |= !p->is_initialized();
    if (!p->is_initialized()) continue;
    row.num_params += p->size();
    if (p->requires_grad()) row.num_trainable += p->size();
    if (!row.dtype) row.dtype = p->dtype();
    if (!row.device) row.device = p->device();
  }
  const auto found = outputs.find(named.link);
  if (found == outputs.end()) return row;
  const Outputs& last = found->second;
  row.calls = last.calls;
  row.output_shapes = last.shapes;
  if (!row.dtype) row.dtype = last.dtype;
  if (!row.device) row.device = last.device;
  return row;
}

ModelSummary summary_of(Link& model, const OutputsOfLinks& outputs, int max_depth) {
  ModelSummary result;
  for (const NamedLink& l : model.namedlinks()) {
    SummaryRow row = row_of(l, outputs);
    if (max_depth < 0 || row.depth <= max_depth) result.rows.push_back(std::move(row));
  }
  for (const Variable& p : model.params(false)) {
    result.num_params += p.size();
    if (p.requires_grad()) result.num_trainable += p.size();
    result.num_bytes += p.size() * std::int64_t(catena::itemsize(p.dtype()));
  }
  return result;
}

// ---- the table ----------------------------------------------------------------------------------
// 1234567 as "1,234,567".
std::string grouped_digits(std::int64_t n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

using Cells = std::array<std::string, 6>;

Cells cells_of(const SummaryRow& row) {
  std::string shapes;
  for (const Shape& s : row.output_shapes) shapes.append(shapes.empty() ? "" : ", ").append(catena::to_string(s));
  const std::string params = row.num_params > 0 ? grouped_digits(row.num_params) : row.has_uninitialized ? "?" : "-";
  return {std::string(std::size_t(row.depth), ' ') + row.path,
          row.type,
          shapes.empty() ? "-" : shapes,
          params,
          row.dtype ? std::string(catena::name_of(*row.dtype)) : "-",
          row.device ? catena::to_string(*row.device) : "-"};
}

std::string line_of(const Cells& cells, const std::array<std::size_t, 6>& widths) {
  constexpr std::size_t kParams = 3;  // right-aligned, as it has numbers
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const std::string space(widths[i] - cells[i].size(), ' ');
    line.append(i > 0 ? "  " : "").append(i == kParams ? space : cells[i]).append(i == kParams ? cells[i] : space);
  }
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

}  // namespace

std::string ModelSummary::to_string() const {
  std::vector<Cells> table{{"path", "link", "output", "params", "dtype", "device"}};
  for (const SummaryRow& row : rows) table.push_back(cells_of(row));
  std::array<std::size_t, 6> widths{};
  for (const Cells& cells : table)
    for (std::size_t i = 0; i < cells.size(); ++i) widths[i] = std::max(widths[i], cells[i].size());
  std::size_t width = 2 * (widths.size() - 1);
  for (const std::size_t w : widths) width += w;
  const std::string rule = std::string(width, '-') + "\n";
  std::string text = line_of(table[0], widths) + rule;
  for (std::size_t i = 1; i < table.size(); ++i) text += line_of(table[i], widths);
  return text + rule + "parameters: " + grouped_digits(num_params) + ", trainable: " + grouped_digits(num_trainable) +
         ", bytes: " + grouped_digits(num_bytes) + "\n";
}

std::ostream& operator<<(std::ostream& out, const ModelSummary& summary) { return out << summary.to_string(); }

ModelSummary summary(Link& model, const catena::Function<void()>& call, const SummaryOptions& o) {
  RecordOutputs record;
  {
    const LinkHookScope scope(record);
    const auto no_graph = autograd::no_backprop_mode();
    const auto mode = autograd::train_mode(o.train);
    call();
  }
  return summary_of(model, record.of_links, o.max_depth);
}

ModelSummary summary(Link& model, const Variables& inputs, const SummaryOptions& o) {
  return summary(
      model, [&] { model.call(inputs); }, o);
}

ModelSummary summary(Link& model, std::initializer_list<catena::Integer> shape, const SummaryOptions& o) {
  return summary(model, Variables{Variable(autograd::arrays::zeros(Shape(shape), Dtype::float32, model.device()))}, o);
}

ModelSummary summary(Link& model, const SummaryOptions& o) { return summary_of(model, {}, o.max_depth); }

}  // namespace nn
