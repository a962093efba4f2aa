#include <catena/kernels/base/einsum_path.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

namespace catena::einsum {

namespace {

constexpr const char* kOp = "einsum";

int label_of(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  return -1;
}

// The labels of one term; the ellipsis is kEllipsis.
Labels term(std::string_view subscripts, std::string_view part) {
  Labels labels;
  bool has_ellipsis = false;
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (part[i] == ' ') continue;
    if (part[i] == '.') {
      catena::check<ValueError>(part.substr(i, 3) == "..." && !has_ellipsis, kOp, "\"", subscripts,
                                "\" has a point that is not part of the one ellipsis \"...\" that a term may have");
      has_ellipsis = true;
      labels.push_back(kEllipsis);
      i += 2;
      continue;
    }
    const int label = label_of(part[i]);
    catena::check<ValueError>(label >= 0, kOp, "\"", subscripts, "\" has the character \"", part.substr(i, 1),
                              "\"; axes are letters, \"...\", commas and \"->\" are all there is besides them");
    labels.push_back(label);
  }
  return labels;
}

bool has_ellipsis(const Labels& labels) { return std::find(labels.begin(), labels.end(), kEllipsis) != labels.end(); }

// Puts the labels of the last `count` axes of the ellipsis in place of kEllipsis.
Labels without_ellipsis(const Labels& labels, int count) {
  Labels result;
  for (const int label : labels) {
    if (label != kEllipsis) result.push_back(label);
    else
      for (int i = count - 1; i >= 0; --i) result.push_back(kLetters + i);
  }
  return result;
}

void read_operand(std::string_view text, std::size_t operand, const Shape& shape, Labels& labels,
                  std::vector<std::int64_t>& lengths, int& broadcast) {
  const bool open = has_ellipsis(labels);
  const int named = static_cast<int>(labels.size()) - (open ? 1 : 0), rest = shape.size() - named;
  catena::check<ValueError>(open ? rest >= 0 : rest == 0, kOp, "\"", text, "\" gives operand ", operand, " ", named,
                            " axes", open ? " besides those of the ellipsis" : "", ", it has the shape ", shape);
  labels = without_ellipsis(labels, rest);
  broadcast = std::max(broadcast, rest);
  for (int axis = 0; axis < shape.size(); ++axis) {
    const int label = labels[static_cast<std::size_t>(axis)];
    const auto first = std::find(labels.begin(), labels.end(), label) - labels.begin();
    catena::check<ValueError>(shape[static_cast<int>(first)] == shape[axis], kOp, "the axes \"", name_of(label),
                              "\" of operand ", operand, " of shape ", shape, " have different lengths");
    std::int64_t& length = lengths[static_cast<std::size_t>(label)];
    catena::check<ValueError>(length == 1 || shape[axis] == 1 || length == shape[axis], kOp, "axis \"", name_of(label),
                              "\" has length ", shape[axis], " in operand ", operand, " of shape ", shape, ", and ",
                              length, " in one before it");
    if (shape[axis] != 1) length = shape[axis];
  }
}

Labels implicit_output(const std::vector<Labels>& operands, int broadcast) {
  Labels result = without_ellipsis({kEllipsis}, broadcast);
  std::array<int, kLetters> times{};
  for (const Labels& labels : operands)
    for (const int label : labels)
      if (label < kLetters) ++times[static_cast<std::size_t>(label)];
  for (int label = 0; label < kLetters; ++label)
    if (times[static_cast<std::size_t>(label)] == 1) result.push_back(label);
  return result;
}

Labels explicit_output(std::string_view text, std::string_view part, const std::vector<Labels>& operands,
                       int broadcast) {
  const Labels labels = term(text, part);
  catena::check<ValueError>(broadcast == 0 || has_ellipsis(labels), kOp, "\"", text,
                            "\": the operands have axes in place of the ellipsis, so the result needs one, too");
  LabelSet known;
  for (const Labels& of_operand : operands)
    for (const int label : of_operand) known.set(static_cast<std::size_t>(label));
  LabelSet seen;
  for (const int label : labels) {
    if (label == kEllipsis) continue;
    catena::check<ValueError>(known[static_cast<std::size_t>(label)], kOp, "\"", text, "\": axis \"", name_of(label),
                              "\" of the result is in none of the operands");
    catena::check<ValueError>(!seen[static_cast<std::size_t>(label)], kOp, "\"", text, "\": axis \"", name_of(label),
                              "\" is twice in the result");
    seen.set(static_cast<std::size_t>(label));
  }
  return without_ellipsis(labels, broadcast);
}

}  // namespace

std::string name_of(int label) {
  if (label >= kLetters) return "...";
  return std::string(1, static_cast<char>(label < 26 ? 'A' + label : 'a' + label - 26));
}

LabelSet set_of(const Labels& labels) {
  LabelSet set;
  for (const int label : labels) set.set(static_cast<std::size_t>(label));
  return set;
}

Subscripts read(std::string_view text, std::span<const Shape> shapes) {
  const std::size_t arrow = text.find("->");
  std::string_view inputs = text.substr(0, arrow);
  Subscripts result;
  for (;;) {
    const std::size_t comma = inputs.find(',');
    result.operands.push_back(term(text, inputs.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    inputs.remove_prefix(comma + 1);
  }
  catena::check<ValueError>(result.operands.size() == shapes.size(), kOp, "\"", text, "\" is for ",
                            result.operands.size(), " operands, there are ", shapes.size());
  result.lengths.assign(kLabels, 1);
  int broadcast = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i)
    read_operand(text, i, shapes[i], result.operands[i], result.lengths, broadcast);
  result.output = arrow == std::string_view::npos
                      ? implicit_output(result.operands, broadcast)
                      : explicit_output(text, text.substr(arrow + 2), result.operands, broadcast);
  return result;
}

std::string text_of(std::span<const Labels> operands, const Labels* output) {
  std::string result;
  const auto add = [&](const Labels& labels) {
    for (const int label : labels) {
      catena::check<ValueError>(label >= kEllipsis && label < kLetters, kOp, "the label ", label, " is not in 0 to 51");
      result += label == kEllipsis ? "..." : name_of(label);
    }
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) result += ',';
    add(operands[i]);
  }
  if (output != nullptr) {
    result += "->";
    add(*output);
  }
  return result;
}

// ---- order ----------------------------------------------------------------------------------------
namespace {

double size_of(const LabelSet& set, const Subscripts& s) {
  double size = 1;
  for (std::size_t label = 0; label < kLabels; ++label)
    if (set[label]) size *= static_cast<double>(s.lengths[label]);
  return size;
}

// The labels of the operands of a list that has `without` two positions fewer, and of the result.
LabelSet needed_besides(const std::vector<LabelSet>& list, const Dims& without, const LabelSet& output) {
  LabelSet set = output;
  for (std::size_t i = 0; i < list.size(); ++i)
    if (std::find(without.begin(), without.end(), static_cast<std::int64_t>(i)) == without.end()) set |= list[i];
  return set;
}

// Replaces the operands at these positions by their contraction; returns all the labels that it runs over.
LabelSet contract(std::vector<LabelSet>& list, const Dims& at, const LabelSet& output) {
  LabelSet all;
  for (const std::int64_t i : at) all |= list[static_cast<std::size_t>(i)];
  const LabelSet needed = needed_besides(list, at, output);
  Dims sorted = at;
  std::sort(sorted.begin(), sorted.end());
  for (int i = sorted.size() - 1; i >= 0; --i) list.erase(list.begin() + sorted[i]);
  list.push_back(all & needed);
  return all;
}

std::vector<LabelSet> sets_of(const Subscripts& s) {
  std::vector<LabelSet> list;
  for (const Labels& labels : s.operands) list.push_back(set_of(labels));
  return list;
}

}  // namespace

Path in_order(std::size_t operands) {
  Path path;
  if (operands == 1) path.push_back({0});
  // The result of a contraction is the last of the list; the next one takes it and the first.
  for (std::size_t left = operands; left > 1; --left) path.push_back(left == operands ? Dims{0, 1} : Dims{left - 1, 0});
  return path;
}

Path greedy(const Subscripts& s) {
  std::vector<LabelSet> list = sets_of(s);
  const LabelSet output = set_of(s.output);
  Path path;
  if (list.size() == 1) path.push_back({0});
  while (list.size() > 1) {
    Dims best;
    std::array<double, 3> least{};
    for (std::size_t i = 0; i < list.size(); ++i) {
      for (std::size_t j = i + 1; j < list.size(); ++j) {
        const Dims pair{i, j};
        const LabelSet all = list[i] | list[j], left = all & needed_besides(list, pair, output);
        // Operands without a common axis last; then what the pair leaves behind, then the work.
        const std::array<double, 3> price{(list[i] & list[j]).none() ? 1.0 : 0.0,
                                          size_of(left, s) - size_of(list[i], s) - size_of(list[j], s),
                                          size_of(all, s)};
        if (!best.empty() && !(price < least)) continue;
        best = pair;
        least = price;
      }
    }
    path.push_back(best);
    contract(list, best, output);
  }
  return path;
}

// The least work for each set of operands is that of its best division into two sets, and the work of these.
Path optimal(const Subscripts& s) {
  const std::size_t n = s.operands.size(), sets = std::size_t(1) << n;
  const std::vector<LabelSet> list = sets_of(s);
  if (n == 1) return {{0}};
  std::vector<double> work(sets, 0);
  std::vector<std::size_t> division(sets, 0);
  std::vector<LabelSet> labels(sets);
  for (std::size_t set = 1; set < sets; ++set) {
    LabelSet inside, outside = set_of(s.output);
    for (std::size_t i = 0; i < n; ++i) ((set >> i & 1) != 0 ? inside : outside) |= list[i];
    labels[set] = (set & (set - 1)) == 0 ? inside : inside & outside;
    if ((set & (set - 1)) == 0) continue;
    work[set] = std::numeric_limits<double>::infinity();
    // The parts in descending order, down to those without the last operand, which are the others of earlier ones.
    for (std::size_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set) {
      const double total = work[part] + work[set ^ part] + size_of(labels[part] | labels[set ^ part], s);
      if (total >= work[set] && division[set] != 0) continue;
      work[set] = total;
      division[set] = part;
    }
  }
  Path path;
  std::vector<std::size_t> left;
  for (std::size_t i = 0; i < n; ++i) left.push_back(std::size_t(1) << i);
  const auto take = [&](auto&& self, std::size_t set) -> void {
    if ((set & (set - 1)) == 0) return;
    const std::size_t first = set ^ division[set], second = division[set];
    self(self, first);
    self(self, second);
    const auto i = std::find(left.begin(), left.end(), first) - left.begin(),
               j = std::find(left.begin(), left.end(), second) - left.begin();
    path.push_back({std::min(i, j), std::max(i, j)});
    left.erase(left.begin() + std::max(i, j));
    left.erase(left.begin() + std::min(i, j));
    left.push_back(set);
  };
  take(take, sets - 1);
  return path;
}

Path automatic(const Subscripts& s) {
  constexpr std::size_t kFew = 6;
  if (s.operands.size() <= 2) return in_order(s.operands.size());
  return s.operands.size() <= kFew ? optimal(s) : greedy(s);
}

void check(const Path& path, std::size_t operands) {
  auto left = static_cast<std::int64_t>(operands);
  for (const Dims& step : path) {
    bool good = !step.empty();
    for (int i = 0; i < step.size(); ++i)
      good = good && step[i] >= 0 && step[i] < left &&
             std::find(step.begin(), step.begin() + i, step[i]) == step.begin() + i;
    catena::check<ValueError>(good, kOp, "the path contracts the operands ", step, " when ", left, " are left");
    left += 1 - step.size();
  }
  catena::check<ValueError>(left == 1, kOp, "the path leaves ", left, " of ", operands, " operands, it must leave one");
}

Cost cost_of(const Path& path, const Subscripts& s) {
  std::vector<LabelSet> list = sets_of(s);
  Cost cost;
  for (const Dims& step : path) {
    cost.multiplications += size_of(contract(list, step, set_of(s.output)), s) * std::max(1, step.size() - 1);
    cost.largest = std::max(cost.largest, size_of(list.back(), s));
  }
  return cost;
}

}  // namespace catena::einsum
