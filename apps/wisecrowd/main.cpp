#include <cstdio>

#include "wisecrowd/version.hpp"

int main() { std::puts("wisecrowd " WISECROWD_VERSION); }
