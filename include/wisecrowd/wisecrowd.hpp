#pragma once

// The whole public API.
#include "wisecrowd/aggregate.hpp"
#include "wisecrowd/annotations.hpp"
#include "wisecrowd/dataset.hpp"
#include "wisecrowd/error.hpp"
#include "wisecrowd/evaluate.hpp"
#include "wisecrowd/held_out.hpp"
#include "wisecrowd/ids.hpp"
#include "wisecrowd/features.hpp"
#include "wisecrowd/ingest.hpp"
#include "wisecrowd/learn.hpp"
#include "wisecrowd/parameters.hpp"
#include "wisecrowd/read_features.hpp"
#include "wisecrowd/result.hpp"
#include "wisecrowd/run_context.hpp"
#include "wisecrowd/simulate.hpp"
#include "wisecrowd/version.hpp"
