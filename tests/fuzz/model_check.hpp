#pragma once

#include <string_view>

namespace wisecrowd::fuzz {

/// A model folder: the bytes are model.json and perhaps one more file; the others are made to fit. What is accepted
/// must predict probabilities and be the same after saving; what is refused must not be called a defect of ours.
void check_model(std::string_view bytes);

}  // namespace wisecrowd::fuzz
