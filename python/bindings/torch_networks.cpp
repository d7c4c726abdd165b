#include "torch_networks.hpp"

namespace wisecrowd::python {
namespace {

using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;

/// An object of Python that may be given up from any thread.
class Held {
 public:
  explicit Held(py::object object) : object_(std::move(object)) {}
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    const py::gil_scoped_acquire locked;
    object_ = py::object();
  }
  [[nodiscard]] const py::object& get() const noexcept { return object_; }

 private:
  py::object object_;
};

/// What lies elsewhere, as an array that owns nothing.
template <class T>
py::array_t<T> lent(std::span<T> values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data(), py::none());
}
template <class T>
py::array_t<T> lent_to_read(std::span<const T> values) {
  py::array_t<T> array(static_cast<py::ssize_t>(values.size()), values.data(), py::none());
  array.attr("flags").attr("writeable") = false;
  return array;
}

std::vector<float> copied(const py::object& given) {
  const auto array = given.cast<Floats>();
  return std::vector<float>(array.data(), array.data() + array.size());
}

class PythonNetwork final : public ForeignNetwork {
 public:
  explicit PythonNetwork(py::object network) : network_(std::move(network)) {}

  [[nodiscard]] std::vector<float> parameters() const override {
    const py::gil_scoped_acquire locked;
    return copied(network_.get().attr("parameters")());
  }
  void forward(std::span<const float> parameters, std::span<const std::uint32_t> rows, Mode mode,
               std::span<float> outputs) override {
    static constexpr const char* kModes[] = {"predict", "train", "sample"};
    const py::gil_scoped_acquire locked;
    network_.get().attr("forward")(lent_to_read(parameters), lent_to_read(rows), kModes[static_cast<int>(mode)],
                                   lent(outputs));
    if (PyErr_CheckSignals() != 0) throw py::error_already_set();
  }
  void backward(std::span<const float> output_gradients, std::span<float> gradients) override {
    const py::gil_scoped_acquire locked;
    network_.get().attr("backward")(lent_to_read(output_gradients), lent(gradients));
  }
  [[nodiscard]] std::vector<float> buffers() const override {
    const py::gil_scoped_acquire locked;
    return copied(network_.get().attr("buffers")());
  }
  void set_buffers(std::span<const float> values) override {
    const py::gil_scoped_acquire locked;
    network_.get().attr("set_buffers")(lent_to_read(values));
  }
  void drop_inputs(double share) override {
    const py::gil_scoped_acquire locked;
    network_.get().attr("drop_inputs")(share);
  }
  void reseed(std::uint64_t seed) override {
    const py::gil_scoped_acquire locked;
    network_.get().attr("reseed")(seed);
  }

 private:
  Held network_;
};

class PythonNetworks final : public ForeignNetworks {
 public:
  explicit PythonNetworks(py::object make) : make_(std::move(make)) {}
  [[nodiscard]] std::unique_ptr<ForeignNetwork> make(std::size_t outputs, std::uint64_t seed) override {
    const py::gil_scoped_acquire locked;
    return std::make_unique<PythonNetwork>(make_.get()(outputs, seed));
  }

 private:
  Held make_;
};

}  // namespace

std::shared_ptr<ForeignNetworks> python_networks(py::object make) {
  return std::make_shared<PythonNetworks>(std::move(make));
}

}  // namespace wisecrowd::python
