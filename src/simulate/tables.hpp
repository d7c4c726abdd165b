#pragma once

#include <cstddef>
#include <span>

#include "base/rng.hpp"

namespace wisecrowd::tables {

// Families of confusion tables. Each fills one worker's K × K table (rows are truth, and sum to 1).

/// Rows are independent uniform vectors, normalised: no better than chance.
void random(std::span<double> table, std::size_t classes, Rng& rng);
/// Uniform rows whose largest entry is swapped onto the diagonal and multiplied by level ≥ 1.
void better_than_random(std::span<double> table, std::size_t classes, double level, Rng& rng);
/// Rows of I + gamma · U(0, 1), normalised.
void diagonal_dominant(std::span<double> table, std::size_t classes, double gamma, Rng& rng);
/// Always right.
void identity(std::span<double> table, std::size_t classes);
/// The diagonal as given; what is left of each row is spread evenly over the other K − 1 classes.
void coin_per_class(std::span<double> table, std::size_t classes, std::span<const double> diagonal);
/// coin_per_class with the same accuracy for every class.
void one_coin(std::span<double> table, std::size_t classes, double accuracy);
/// All rows are the same random point of the simplex: answers say nothing about the truth.
void spammer(std::span<double> table, std::size_t classes, Rng& rng);
/// Uniform rows whose largest entry sits on a random wrong class.
void adversary(std::span<double> table, std::size_t classes, Rng& rng);
/// Says `expertise` exactly when it is the truth; among the other classes the rows are random.
void class_expert(std::span<double> table, std::size_t classes, std::size_t expertise, Rng& rng);
/// Always says `label`.
void constant(std::span<double> table, std::size_t classes, std::size_t label);

}  // namespace wisecrowd::tables
