#include "learn/shared/torch_plugin.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/output_folder.hpp"
#include "base/plugin.hpp"
#include "learn/shared/torch_entry.hpp"
#include "wisecrowd/error.hpp"

// libtorch is 120 MB and 287 libraries: half a second to load. So it is behind a plugin that only a "cnn", a
// TorchScript file or an export loads, and only then.

namespace wisecrowd {
namespace {

namespace fs = std::filesystem;

constexpr PluginKind kKind{.what = "libtorch plugin",
                           .file = "libwisecrowd_torch.so",
                           .variable = "WISECROWD_TORCH_PLUGIN",
                           .entry = kTorchEntryName,
                           .remedy = "choose the model linear or mlp, or install libtorch-dev"};

void set_unless_set(const char* name, const char* value) { setenv(name, value, 0); }

/// What the libraries read from the environment at the moment they are loaded. A user's own settings stand.
void prepare_environment() {
#if defined(__x86_64__)
  // OpenBLAS 0.3.21 takes processors that are newer than itself for a Prescott of 2004, without AVX.
  __builtin_cpu_init();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (avx512) {
    set_unless_set("OPENBLAS_CORETYPE", "SkylakeX");
  } else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    set_unless_set("OPENBLAS_CORETYPE", "Haswell");
  }
#endif
  // OpenMP's threads spin for milliseconds before they sleep, which stalls everything when another program needs the
  // core: ten times the processor time was measured. So they spin for microseconds only.
  if (std::getenv("OMP_WAIT_POLICY") == nullptr) set_unless_set("GOMP_SPINCOUNT", "1000");
}

/// libtorch calls whatever libblas.so.3 the system has chosen; the reference BLAS is ten times slower, OpenBLAS with
/// its own threads gets in the way of OpenMP's. A library that is loaded already goes before the one that is chosen, so
/// load the good one if it is there; if not, the system's choice serves.
void prefer_good_blas() {
#if defined(__linux__) && defined(__x86_64__)
  constexpr const char* kFolder = "/usr/lib/x86_64-linux-gnu/openblas-openmp/";
#elif defined(__linux__) && defined(__aarch64__)
  constexpr const char* kFolder = "/usr/lib/aarch64-linux-gnu/openblas-openmp/";
#else
  constexpr const char* kFolder = "/usr/lib/openblas-openmp/";
#endif
  for (const char* library : {"libblas.so.3", "liblapack.so.3"}) {
    dlopen((std::string(kFolder) + library).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
}

void write_file(const std::string& path, std::string_view bytes) {
  const fs::path target(path);
  const std::string aside =
      (target.parent_path() / ("." + target.filename().string() + ".tmp-" + std::to_string(getpid()))).string();
  try {
    OutputFile file(aside, path);
    file.append(bytes);
    file.finish();
    std::error_code error;
    fs::rename(aside, target, error);
    if (error) throw Error(ErrorCode::io, path + ": cannot be put in place: " + error.message());
  } catch (...) {
    unlink(aside.c_str());
    throw;
  }
}

const TorchPlugin& load() {
  static const TorchHost host{write_file};
  if (!plugin_path(kKind).empty()) {
    prepare_environment();
    prefer_good_blas();
  }
  return load_plugin<TorchPlugin>(kKind, kTorchInterface, &host);
}

const TorchPlugin& plugin() {
  static const TorchPlugin& loaded = load();
  return loaded;
}

}  // namespace

std::string torch_plugin_path() { return plugin_path(kKind); }

std::unique_ptr<Network> make_torch_network(const NetworkSpec& spec, const Features& inputs, std::size_t outputs,
                                            std::uint64_t seed, const RunContext& context) {
  if (spec.kind == "cnn" && !inputs.is_image()) {
    throw Error(ErrorCode::bad_input,
                "model cnn: needs images, an .npy of shape (rows, height, width) or (rows, height, width, channels); "
                "these features are " +
                    std::to_string(inputs.columns()) + " numbers per row: choose the model mlp or linear");
  }
  // Before libtorch is loaded: a mistyped name is the commonest mistake.
  std::error_code error;
  if (spec.kind != "cnn" && !fs::exists(spec.kind, error)) {
    throw Error(ErrorCode::io,
                "model " + spec.kind + ": no such file; a model is linear, mlp, cnn or the path of a TorchScript file");
  }
  return plugin().make_network(spec, inputs, outputs, seed, context.pool());
}

void export_dense_torchscript(const std::string& path, std::size_t inputs, std::span<const std::size_t> widths,
                              std::span<const float> parameters, const Scaling& scaling) {
  plugin().export_dense(path, inputs, widths, parameters, scaling);
}

}  // namespace wisecrowd
