#include "wisecrowd/enum_names.hpp"

#include "wisecrowd/error.hpp"

namespace wisecrowd {

void refuse_name(std::string_view what, std::string_view name, const std::vector<std::string>& names) {
  std::string message = "there is no ";
  message.append(what).append(" '").append(name).append("': choose ");
  for (std::size_t i = 0; i < names.size(); ++i) {
    message.append(i == 0 ? "" : i + 1 == names.size() ? " or " : ", ").append(names[i]);
  }
  throw Error(ErrorCode::bad_parameter, message);
}

}  // namespace wisecrowd
