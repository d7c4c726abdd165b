#include "aggregate/numbers/student_em/student_em.hpp"

#include "aggregate/method.hpp"

namespace wisecrowd::student_em {
namespace {

void parameters(ParameterVisitor& v, Options& o) {
  v.real("degrees", o.degrees, 2.1, 1000,
         "degrees of freedom of the errors: the fewer, the more wild answers are expected");
  numbers::precision_parameters(v, o);
}

}  // namespace

NumberMethod method() {
  MethodInfo info;
  info.title = "Student EM";
  info.summary =
      "Bias and precision of each worker by EM where single answers may be wild: errors have the heavy tails of "
      "Student's t.";
  info.when_to_use =
      "As gaussian_em, when careful workers slip now and then: typing errors, other units, clicks beside the mark.";
  info.reference =
      "K. L. Lange, R. J. A. Little, J. M. G. Taylor, Robust statistical modeling using the t distribution, JASA 1989";
  info.assumptions = "Errors are independent, with a bias and a width per worker; biases cancel over all answers.";
  info.cost = "time S·D per iteration; memory S + N + M";
  info.uses_gold = true;
  return NumberMethod::of<StudentEm, parameters>(std::move(info));
}

NumberFit StudentEm::fit(const NumberData& data, const RunContext& context, const NumberStart&) const {
  return numbers::precision_fit(data, options_, context);
}

std::vector<double> StudentEm::log_predictive(const NumberData& data, std::span<const NumberAnswer> answers,
                                              const RunContext& context) const {
  return numbers::precision_log_predictive(data, answers, options_, context);
}

}  // namespace wisecrowd::student_em
