#include <ATen/Parallel.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>

#include "base/parallel.hpp"
#include "learn/torch/modules.hpp"
#include "wisecrowd/error.hpp"

namespace wisecrowd {
namespace {

using torch::jit::Module;

/// Rows of one pass when nothing is kept: enough to keep the cores busy, little enough for the memory of large images.
constexpr std::size_t kPredictBatch = 128;

/// Nothing under src/ prints, so libtorch does not either.
class Silence final : public c10::WarningHandler {
  void process(const c10::SourceLocation&, const std::string&, const bool) override {}
};

/// Dropout of a script draws from libtorch's one default generator. Whoever uses it seeds it first and holds this.
std::mutex& generator_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::uint64_t mixed(std::uint64_t key, std::uint64_t counter) {
  std::uint64_t x = key + (counter + 1) * 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

std::string shape_text(at::IntArrayRef sizes) {
  std::string text = "(";
  for (std::size_t axis = 0; axis < sizes.size(); ++axis) {
    text += (axis == 0 ? "" : ", ") + std::to_string(sizes[axis]);
  }
  return text + ")";
}

/// The rows as a module wants them.
at::Tensor gathered(const Features& inputs, std::span<const std::uint32_t> rows, ImageLayout layout) {
  const auto batch = static_cast<std::int64_t>(rows.size());
  const auto columns = inputs.columns();
  if (inputs.is_sparse()) {
    at::Tensor result = at::zeros({batch, static_cast<std::int64_t>(columns)});
    float* target = result.data_ptr<float>();
    for (const std::uint32_t row : rows) {
      for (std::uint64_t e = inputs.offsets[row]; e < inputs.offsets[row + 1]; ++e) {
        target[inputs.indices[e]] = inputs.values[e];
      }
      target += columns;
    }
    return result;
  }
  at::Tensor result = at::empty({batch, static_cast<std::int64_t>(columns)});
  float* target = result.data_ptr<float>();
  for (const std::uint32_t row : rows) {
    std::memcpy(target, inputs.dense.data() + row * columns, columns * sizeof(float));
    target += columns;
  }
  if (!inputs.is_image()) return result;
  const auto height = static_cast<std::int64_t>(inputs.shape[0]), width = static_cast<std::int64_t>(inputs.shape[1]);
  const auto channels = inputs.shape.size() > 2 ? static_cast<std::int64_t>(inputs.shape[2]) : 1;
  const at::Tensor by_pixel = result.view({batch, height, width, channels}).permute({0, 3, 1, 2});
  if (layout == ImageLayout::by_pixel) return by_pixel;
  // With one channel both layouts are the same numbers in the same order, and only the strides tell them apart.
  return channels == 1 ? result.view({batch, 1, height, width}) : by_pixel.contiguous();
}

class TorchNetwork final : public Network {
 public:
  TorchNetwork(Module module, std::string name, ImageLayout layout, std::size_t outputs, std::uint64_t seed,
               const TorchHost& host)
      : module_(std::move(module)),
        name_(std::move(name)),
        layout_(layout),
        outputs_(outputs),
        key_(seed),
        host_(host) {
    gather_parameters();
  }

  [[nodiscard]] std::size_t output_size() const override { return outputs_; }

  void forward(const Features& inputs, std::span<const std::uint32_t> rows, Mode mode,
               std::span<float> outputs) override {
    guarded([&] {
      set_mode(mode);
      if (mode == Mode::train) {
        const at::AutoGradMode with_gradients(true);
        result_ = run(gathered(inputs, rows, layout_), mode);
        copy_out(result_, outputs.data());
        return;
      }
      const at::NoGradGuard no_gradients;
      for (std::size_t begin = 0; begin < rows.size(); begin += kPredictBatch) {
        const auto part = rows.subspan(begin, std::min(kPredictBatch, rows.size() - begin));
        copy_out(run(gathered(inputs, part, layout_), mode), outputs.data() + begin * outputs_);
      }
    });
  }

  void backward(std::span<const float> output_gradients) override {
    guarded([&] {
      // from_blob wants a pointer to what may change; backward only reads it.
      const at::Tensor gradient = at::from_blob(const_cast<float*>(output_gradients.data()), result_.sizes());
      result_.backward(gradient);
      result_ = at::Tensor();
    });
  }

  [[nodiscard]] std::span<float> parameters() override { return whole(block_); }
  [[nodiscard]] std::span<float> gradients() override { return whole(gradient_block_); }

  [[nodiscard]] std::vector<float> buffers() const override {
    std::vector<float> values;
    for (const at::Tensor& buffer : buffers_) {
      const at::Tensor numbers = buffer.detach().to(at::kFloat).contiguous();
      values.insert(values.end(), numbers.data_ptr<float>(), numbers.data_ptr<float>() + numbers.numel());
    }
    return values;
  }

  void set_buffers(std::span<const float> values) override {
    std::size_t wanted = 0;
    for (const at::Tensor& buffer : buffers_) wanted += static_cast<std::size_t>(buffer.numel());
    if (values.size() != wanted) {
      throw Error(ErrorCode::bad_input, "model " + name_ + ": needs a state of " + std::to_string(wanted) +
                                            " numbers besides its parameters, found " + std::to_string(values.size()));
    }
    const at::NoGradGuard no_gradients;
    const float* place = values.data();
    for (at::Tensor& buffer : buffers_) {
      buffer.copy_(at::from_blob(const_cast<float*>(place), buffer.sizes()));
      place += buffer.numel();
    }
  }

  void reseed(std::uint64_t seed) override {
    key_ = seed;
    draws_ = 0;
  }

  void export_torchscript(const std::string& path, const Scaling& scaling) const override {
    std::string bytes;
    guarded([&] {
      // libtorch's copy takes tensors that share memory for one and the same, as those in our block do.
      const at::NoGradGuard no_gradients;
      std::map<std::int64_t, at::Tensor> own;  // by place, so that tied weights stay tied
      for (const Place& place : places_) {
        place.parameter.set_data(own.try_emplace(place.offset, view(block_, place).clone()).first->second);
      }
      try {
        bytes = exported_module(module_, scaling);
      } catch (...) {
        put_in_block();
        throw;
      }
      put_in_block();
    });
    host_.write_file(path, bytes);
  }

 private:
  static std::span<float> whole(at::Tensor& block) {
    return {block.data_ptr<float>(), static_cast<std::size_t>(block.numel())};
  }

  /// Runs work with our number of threads, without warnings, and speaks of failures in our way.
  template <class Work>
  void guarded(const Work& work) const {
    static Silence silence;
    const c10::Warning::WarningHandlerGuard guard(&silence);
    const int threads = static_cast<int>(pool().size());
    if (at::get_num_threads() != threads) at::set_num_threads(threads);
    try {
      work();
    } catch (const Error&) {
      throw;
    } catch (const std::bad_alloc&) {
      throw;
    } catch (const c10::Error& failure) {
      refuse(failure.what_without_backtrace());
    } catch (const std::exception& failure) {
      refuse(failure.what());
    }
  }
  [[noreturn]] void refuse(const std::string& message) const {
    throw Error(ErrorCode::bad_input, "model " + name_ + ": fails when it is run: " + one_line(message));
  }

  at::Tensor run(at::Tensor batch, Mode mode) {
    const std::int64_t rows = batch.size(0);
    std::unique_lock lock(generator_mutex(), std::defer_lock);
    if (mode != Mode::predict) {
      lock.lock();
      at::Generator generator = at::detail::getDefaultCPUGenerator();
      const std::lock_guard inner(generator.mutex());
      generator.set_current_seed(mixed(key_, draws_++));
    }
    const c10::IValue value = module_.forward({std::move(batch)});
    const std::string wanted = "; needed are raw numbers of type float and shape (batch, " + std::to_string(outputs_) +
                               "): one per class, before any softmax";
    if (!value.isTensor()) {
      throw Error(ErrorCode::bad_input, "model " + name_ + ": gives a " + value.tagKind() + ", not a tensor" + wanted);
    }
    at::Tensor result = value.toTensor();
    const bool fits = result.dim() == 2 && result.size(0) == rows &&
                      result.size(1) == static_cast<std::int64_t>(outputs_) && result.scalar_type() == at::kFloat;
    if (!fits) {
      throw Error(ErrorCode::bad_input, "model " + name_ + ": gives " + c10::toString(result.scalar_type()) +
                                            " of shape " + shape_text(result.sizes()) + " for a batch of " +
                                            std::to_string(rows) + wanted);
    }
    if (mode == Mode::train && !result.requires_grad()) {
      throw Error(ErrorCode::bad_input,
                  "model " + name_ + ": its outputs do not depend on its parameters, so it cannot be trained");
    }
    return result;
  }

  static void copy_out(const at::Tensor& result, float* target) {
    const at::Tensor plain = result.detach().contiguous();
    std::memcpy(target, plain.data_ptr<float>(), static_cast<std::size_t>(plain.numel()) * sizeof(float));
  }

  void set_mode(Mode mode) {
    if (mode == mode_) return;
    module_.train(mode != Mode::predict);
    if (mode == Mode::sample) {
      for (Module part : module_.modules()) {
        const std::string kind = part.type()->name() ? part.type()->name()->name() : "";
        const bool normalises =
            kind.find("BatchNorm") != std::string::npos || kind.find("InstanceNorm") != std::string::npos;
        if (normalises && part.hasattr("training")) part.setattr("training", false);
      }
    }
    mode_ = mode;
  }

  /// A tensor of the module and where it begins in the block.
  struct Place {
    at::Tensor parameter;
    std::int64_t offset;
  };
  static at::Tensor view(const at::Tensor& block, const Place& place) {
    return block.narrow(0, place.offset, place.parameter.numel()).view(place.parameter.sizes());
  }
  void put_in_block() const {
    for (const Place& place : places_) place.parameter.set_data(view(block_, place));
  }

  /// Moves the parameters into one block and their gradients into another; the module's tensors become views.
  void gather_parameters() {
    std::int64_t total = 0;
    for (const auto& [name, parameter] : module_.named_parameters()) {
      if (!parameter.requires_grad()) {
        buffers_.push_back(parameter);  // frozen: state, but not trained
        continue;
      }
      if (parameter.scalar_type() != at::kFloat) {
        throw Error(ErrorCode::bad_input, "model " + name_ + ": parameter " + name + " is of type " +
                                              c10::toString(parameter.scalar_type()) +
                                              "; only float is trained: call model.float() before saving it");
      }
      // One tensor under two names (tied weights) stays one.
      const auto same = std::find_if(places_.begin(), places_.end(), [&, &parameter = parameter](const Place& place) {
        return parameter.numel() > 0 && place.parameter.data_ptr() == parameter.data_ptr() &&
               place.parameter.sizes() == parameter.sizes();
      });
      const bool tied = same != places_.end();
      places_.push_back({parameter, tied ? same->offset : total});
      if (!tied) total += parameter.numel();
    }
    if (total == 0) {
      throw Error(
          ErrorCode::bad_input,
          "model " + name_ + ": has no parameters that can be trained (frozen modules and traced functions have none)");
    }
    block_ = at::empty(total);
    gradient_block_ = at::zeros(total);
    const at::NoGradGuard no_gradients;
    for (const Place& place : places_) view(block_, place).copy_(place.parameter);
    put_in_block();
    for (const Place& place : places_) place.parameter.mutable_grad() = view(gradient_block_, place);
    for (const at::Tensor& buffer : module_.buffers()) buffers_.push_back(buffer);
  }

  Module module_;
  std::string name_;
  ImageLayout layout_;
  std::size_t outputs_;
  std::uint64_t key_, draws_ = 0;
  const TorchHost& host_;
  std::optional<Mode> mode_;  // that the module is in
  at::Tensor block_, gradient_block_;
  std::vector<Place> places_;
  std::vector<at::Tensor> buffers_;
  at::Tensor result_;  // of the last forward(train), with its graph
};

}  // namespace

std::unique_ptr<Network> network_of(Module module, std::string name, ImageLayout layout, const Features& inputs,
                                    std::size_t outputs, std::uint64_t seed, ThreadPool& pool, const TorchHost& host) {
  // Without profiling runs and fusion: the same operations in the same order each time, and no waiting for a compiler.
  torch::jit::getExecutorMode() = true;
  torch::jit::getProfilingMode() = false;
  auto network = std::make_unique<TorchNetwork>(std::move(module), std::move(name), layout, outputs, seed, host);
  network->work_with(pool);
  const std::vector<std::uint32_t> two{0, inputs.rows > 1 ? 1U : 0U};
  std::vector<float> found(two.size() * outputs);
  if (inputs.rows > 0) network->forward(inputs, two, Network::Mode::predict, found);
  return network;
}

}  // namespace wisecrowd
