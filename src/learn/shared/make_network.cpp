#include "learn/shared/dense_network.hpp"
#include "learn/shared/foreign_network.hpp"
#include "learn/shared/network.hpp"
#include "learn/shared/torch_plugin.hpp"

namespace wisecrowd {

std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Features& inputs, std::size_t outputs,
                                      std::uint64_t seed, const RunContext& context) {
  if (spec.foreign) return make_foreign_network(*spec.foreign, outputs, seed);
  if (spec.kind != "linear" && spec.kind != "mlp") return make_torch_network(spec, inputs, outputs, seed, context);
  std::vector<std::size_t> widths(spec.kind == "mlp" ? spec.layers : 0, spec.hidden);
  widths.push_back(outputs);
  return std::make_unique<DenseNetwork>(inputs.columns(), std::move(widths), spec.kind == "mlp" ? spec.dropout : 0.0,
                                        seed, context.pool());
}

}  // namespace wisecrowd
