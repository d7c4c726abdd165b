# The plugin with everything that needs libtorch: it is loaded when a cnn, a TorchScript model or an export is asked for.
# Loading libtorch takes half a second, which other commands must not pay.
option(WISECROWD_BUILD_TORCH "Build the libtorch plugin (cnn, TorchScript models, export to TorchScript)" ON)
if(WISECROWD_BUILD_TORCH)
  find_package(Torch QUIET)
endif()
if(NOT Torch_FOUND)
  message(STATUS "No libtorch (Debian: libtorch-dev libopenblas0-openmp): the models linear and mlp work; cnn, TorchScript "
    "models and export to TorchScript are off")
  return()
endif()
wisecrowd_plugin(wisecrowd_torch src/learn/torch torch ${TORCH_LIBRARIES})
