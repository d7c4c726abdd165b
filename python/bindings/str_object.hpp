#pragma once

#include <Python.h>

#include <optional>
#include <string>
#include <string_view>

#include "coding.hpp"

namespace wisecrowd::python {

/// text_of for loops over millions of rows: nearly all texts are plain ASCII and are read where they are.
inline std::optional<std::string_view> quick_text_of(PyObject* value, std::string& scratch) {
  if (PyUnicode_CheckExact(value) && PyUnicode_IS_COMPACT_ASCII(value)) [[likely]] {
    return std::string_view(reinterpret_cast<const char*>(reinterpret_cast<PyASCIIObject*>(value) + 1),
                            static_cast<std::size_t>(PyUnicode_GET_LENGTH(value)));
  }
  return text_of(value, scratch);
}

/// The object will be read soon: its header and its first characters.
inline void prefetch_text(PyObject* value) noexcept {
  const char* const place = reinterpret_cast<const char*>(value);
  __builtin_prefetch(place);
  __builtin_prefetch(place + 64);
}

}  // namespace wisecrowd::python
