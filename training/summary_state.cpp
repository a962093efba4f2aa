#include <catena/training/summary_state.h>

#include <catena/training/json_text.h>

namespace training::internal {

void serialize_summary(nn::Serializer& s, nn::DictSummary& summary) {
  std::vector<std::string> names;
  if (s.is_writer()) {
    for (const auto& [name, one] : summary.summaries()) names.push_back(name);
    std::string text = json_of(names);
    s("_names", text);
  } else if (s.contains("_names")) {
    std::string text;
    s("_names", text);
    names = JsonReader(text, "the names of a stored summary").strings();
  }
  nn::DictSummary loaded;
  const auto all = s["_summaries"];
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto one = (*all)[std::to_string(i)];
    nn::Summary of_name;
    if (s.is_writer()) of_name = summary.summaries()[i].second;
    double x = of_name.sum(), x2 = of_name.sum_of_squares();
    std::int64_t n = of_name.count();
    (*one)("_x", x);
    (*one)("_x2", x2);
    (*one)("_n", n);
    of_name.set(x, x2, n);
    loaded.set(names[i], of_name);
  }
  if (!s.is_writer()) summary = std::move(loaded);
}

}  // namespace training::internal
