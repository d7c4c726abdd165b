#pragma once

// The elementary functions that the engine uses, in place of those of the C library. The latter's last digit depends on
// the version of the library and on the processor (it takes other code where there is a fused multiply-add), and EM
// carries a last digit on until it can be seen. These are sums, products and quotients of doubles in one order, so they
// have the same bits on every machine. Errors are below 4 units in the last place unless said otherwise (exp and log:
// below 1).
namespace wisecrowd::math {

[[nodiscard]] double exp(double x) noexcept;
/// exp(x) − 1, without cancellation near 0.
[[nodiscard]] double expm1(double x) noexcept;
[[nodiscard]] double log(double x) noexcept;
/// log(1 + x), without cancellation near 0.
[[nodiscard]] double log1p(double x) noexcept;
[[nodiscard]] double log2(double x) noexcept;
/// x^y for x ≥ 0; its relative error grows as |y log x|. Integer powers up to 64 are products.
[[nodiscard]] double pow(double x, double y) noexcept;
[[nodiscard]] double tanh(double x) noexcept;
/// Of an angle in whole turns: cos(2π turns).
[[nodiscard]] double cos_turns(double turns) noexcept;
[[nodiscard]] double sin_turns(double turns) noexcept;
/// The length of (x, y), also where its square would be no number.
[[nodiscard]] double hypot(double x, double y) noexcept;

}  // namespace wisecrowd::math
