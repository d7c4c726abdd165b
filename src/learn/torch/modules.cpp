#include "learn/torch/modules.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <torch/script.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>

#include "learn/shared/cnn_plan.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using torch::jit::Module;

constexpr const char* kNetworkInside = "wisecrowd_network";  // the attribute that marks our exports

Module named_module(const char* name) {
  Module module{c10::QualifiedName(std::string("__torch__.wisecrowd.") + name)};
  module.register_attribute("training", c10::BoolType::get(), true);
  return module;
}

at::Tensor glorot(std::vector<std::int64_t> shape, at::Generator& generator) {
  std::int64_t window = 1;
  for (std::size_t axis = 2; axis < shape.size(); ++axis) window *= shape[axis];
  const double reach = std::sqrt(6.0 / static_cast<double>((shape[0] + shape[1]) * window));
  return at::empty(shape).uniform_(-reach, reach, generator);
}

void add_parameters(Module& module, const std::string& name, const at::Tensor& weight, const at::Tensor& bias) {
  module.register_parameter(name + "_weight", weight.detach().set_requires_grad(true), false);
  module.register_parameter(name + "_bias", bias.detach().set_requires_grad(true), false);
}

/// A module of its own, because MC-dropout must be able to switch dropout on without this.
Module batch_normalisation(std::int64_t channels) {
  Module module = named_module("BatchNorm2d");
  module.register_parameter("weight", at::ones(channels).set_requires_grad(true), false);
  module.register_parameter("bias", at::zeros(channels).set_requires_grad(true), false);
  module.register_buffer("running_mean", at::zeros(channels));
  module.register_buffer("running_var", at::ones(channels));
  module.define(R"(
def forward(self, x):
    return torch.batch_norm(x, self.weight, self.bias, self.running_mean, self.running_var, self.training,
                            0.1, 1e-5, False)
)");
  return module;
}

}  // namespace

Module convolutional_module(std::span<const std::size_t> shape, std::size_t hidden, double dropout, std::size_t outputs,
                            std::uint64_t seed) {
  at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  Module module = named_module("Convolutional");
  const CnnPlan plan = cnn_plan(shape);
  auto channels = static_cast<std::int64_t>(plan.channels);
  std::ostringstream code;
  code << "def forward(self, x):\n";
  int number = 0;
  for (const CnnPlan::Layer& layer : plan.layers) {
    const auto filters = static_cast<std::int64_t>(layer.filters);
    const std::string name = "conv" + std::to_string(++number);
    add_parameters(module, name, glorot({filters, channels, 3, 3}, generator), at::zeros(filters));
    code << "    x = torch.conv2d(x, self." << name << "_weight, self." << name << "_bias, [1, 1], [" << plan.padding
         << ", " << plan.padding << "])\n";
    if (layer.pooled) code << "    x = torch.max_pool2d(x, [2, 2])\n";
    // The same as ReLU before pooling, for a quarter of the work.
    code << "    x = torch.relu_(x)\n";
    if (number == 1) {
      module.register_module("norm", batch_normalisation(filters));
      code << "    x = self.norm.forward(x)\n";
    }
    channels = filters;
  }
  const auto flat = static_cast<std::int64_t>(plan.flat());
  const auto units = static_cast<std::int64_t>(hidden), classes = static_cast<std::int64_t>(outputs);
  add_parameters(module, "hidden", glorot({units, flat}, generator), at::zeros(units));
  add_parameters(module, "output", glorot({classes, units}, generator), at::zeros(classes));
  module.register_attribute("dropout", c10::FloatType::get(), dropout);
  code << R"(    x = torch.relu_(torch.linear(x.flatten(1), self.hidden_weight, self.hidden_bias))
    x = torch.dropout(x, self.dropout, self.training)
    return torch.linear(x, self.output_weight, self.output_bias)
)";
  module.define(code.str());
  return module;
}

Module dense_module(std::size_t inputs, std::span<const std::size_t> widths, std::span<const float> parameters) {
  Module module = named_module("Dense");
  std::ostringstream code;
  // Our own networks see an image as its pixels in the order of the file, with the channels of a pixel together.
  code << "def forward(self, x):\n    if x.dim() == 4:\n        x = x.permute([0, 2, 3, 1])\n    x = x.flatten(1)\n";
  const float* place = parameters.data();
  for (std::size_t layer = 0; layer < widths.size(); ++layer) {
    const auto from = static_cast<std::int64_t>(layer == 0 ? inputs : widths[layer - 1]);
    const auto to = static_cast<std::int64_t>(widths[layer]);
    const std::string name = "layer" + std::to_string(layer + 1);
    // from_blob wants a pointer to what may change; clone() copies before anything can.
    const at::Tensor weight = at::from_blob(const_cast<float*>(place), {from, to}).t().contiguous().clone();
    place += from * to;
    const at::Tensor bias = at::from_blob(const_cast<float*>(place), {to}).clone();
    place += to;
    add_parameters(module, name, weight, bias);
    code << "    x = torch.linear(x, self." << name << "_weight, self." << name << "_bias)\n";
    if (layer + 1 < widths.size()) code << "    x = torch.relu(x)\n";
  }
  code << "    return x\n";
  module.define(code.str());
  return module;
}

Module load_module(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw Error(ErrorCode::io, "model " + path + ": is a folder, not a TorchScript file");
  }
  try {
    Module module = torch::jit::load(path, at::kCPU);
    if (module.hasattr(kNetworkInside)) return module.attr(kNetworkInside).toModule();
    return module;
  } catch (const std::exception& failure) {
    throw Error(ErrorCode::bad_input, "model " + path +
                                          ": cannot be read as a TorchScript module; write it in Python with "
                                          "torch.jit.script(model).save(path), not with torch.save (libtorch: " +
                                          one_line(failure.what()) + ")");
  }
}

std::string exported_module(const Module& network, const Scaling& scaling) {
  const at::NoGradGuard no_gradients;
  // A copy has tensors of its own, not views into our block of parameters.
  const Module copy = network.deepcopy();
  std::vector<bool> trained;
  for (const at::Tensor& parameter : network.parameters()) trained.push_back(parameter.requires_grad());
  std::size_t number = 0;
  for (const at::Tensor& parameter : copy.parameters()) parameter.set_requires_grad(trained[number++]);
  Module module = named_module("Classifier");
  module.register_module(kNetworkInside, copy);
  const auto tensor = [](const std::vector<float>& values) {
    return at::from_blob(const_cast<float*>(values.data()), {static_cast<std::int64_t>(values.size())}).clone();
  };
  std::string code = "def forward(self, x):\n    x = x.to(6)\n";  // 6 is float32: this compiler knows no torch.float32
  if (!scaling.empty()) {
    module.register_buffer("shift", tensor(scaling.shift));
    module.register_buffer("factor", tensor(scaling.factor));
    code += "    x = (x - self.shift) * self.factor\n";
  }
  code += R"(    if x.dim() == 3:
        x = x.unsqueeze(3)
    if x.dim() == 4:
        x = x.permute([0, 3, 1, 2]).contiguous()
    return self.wisecrowd_network.forward(x)
)";
  module.define(code);
  module.eval();
  std::ostringstream bytes;
  module.save(bytes);
  return std::move(bytes).str();
}

std::string one_line(const std::string& message) {
  // A failure inside a module tells first where it happened, and last, after the kind of exception, what it was.
  std::string chosen;
  std::istringstream lines(message);
  for (std::string line; std::getline(lines, line);) {
    const bool cause = line.starts_with("RuntimeError: ") || line.find("Error: ") != std::string::npos;
    if (chosen.empty() || cause) chosen = line;
    if (line.starts_with("Exception raised from")) break;
  }
  if (chosen.starts_with("RuntimeError: ")) chosen.erase(0, std::string("RuntimeError: ").size());
  return chosen;
}

}  // namespace wisecrowd
