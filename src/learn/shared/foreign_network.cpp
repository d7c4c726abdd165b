#include "learn/shared/foreign_network.hpp"

#include "wisecrowd/error.hpp"
#include "wisecrowd/foreign_network.hpp"

namespace wisecrowd {
namespace {

class Adapter final : public Network {
 public:
  Adapter(std::unique_ptr<ForeignNetwork> foreign, std::size_t outputs)
      : foreign_(std::move(foreign)),
        outputs_(outputs),
        parameters_(foreign_->parameters()),
        gradients_(parameters_.size(), 0.0F) {}

  [[nodiscard]] std::size_t output_size() const override { return outputs_; }
  void forward(const Features& inputs, std::span<const std::uint32_t> rows, Mode mode,
               std::span<float> outputs) override {
    (void)inputs;  // it knows what its rows are
    using Foreign = ForeignNetwork::Mode;
    const Foreign as = mode == Mode::train ? Foreign::train : mode == Mode::sample ? Foreign::sample : Foreign::predict;
    foreign_->forward(parameters_, rows, as, outputs);
  }
  void backward(std::span<const float> output_gradients) override { foreign_->backward(output_gradients, gradients_); }
  [[nodiscard]] std::span<float> parameters() override { return parameters_; }
  [[nodiscard]] std::span<float> gradients() override { return gradients_; }
  [[nodiscard]] std::vector<float> buffers() const override { return foreign_->buffers(); }
  void set_buffers(std::span<const float> values) override { foreign_->set_buffers(values); }
  void drop_inputs(double share) override { foreign_->drop_inputs(share); }
  void reseed(std::uint64_t seed) override { foreign_->reseed(seed); }
  void export_torchscript(const std::string& path, const Scaling& scaling) const override {
    (void)path, (void)scaling;
    throw Error(ErrorCode::unsupported, "the network is the caller's own: export it there");
  }

 private:
  std::unique_ptr<ForeignNetwork> foreign_;
  std::size_t outputs_;
  std::vector<float> parameters_, gradients_;
};

}  // namespace

std::unique_ptr<Network> make_foreign_network(ForeignNetworks& networks, std::size_t outputs, std::uint64_t seed) {
  return std::make_unique<Adapter>(networks.make(outputs, seed), outputs);
}

}  // namespace wisecrowd
