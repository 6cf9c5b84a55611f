// The accountant of target.py in C++, without a JSON library: the keys of a question always come in the same order.
//
//     g++ -O2 -o /tmp/target examples/gate/target.cpp
//     dp-oracle gate --cmd /tmp/target --bound laplace.delta

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <string>

const char *QUESTION = R"( { "id" : %ld , "bound" : "laplace.delta" , "input" : )"
                       R"({ "scale" : %lf , "sensitivity" : %lf , "epsilon" : %lf } })";

int main() {
  const double unit = std::ldexp(1.0, -53);
  for (std::string line; std::getline(std::cin, line);) {
    long id = 0;
    double scale, sensitivity, epsilon;
    // NaN, infinities and texts come as strings, which are no %lf, so that fewer than four fields are read.
    int fields = std::sscanf(line.c_str(), QUESTION, &id, &scale, &sensitivity, &epsilon);
    if (fields < 4 || !(scale > 0) || !(sensitivity > 0) || !(epsilon >= 0)) {
      std::printf("{\"id\": %ld, \"refused\": \"scale > 0, sensitivity > 0 and epsilon >= 0 are needed\"}\n", id);
    } else {
      double ratio = sensitivity / scale, gap = (ratio - epsilon) + 4 * unit * (ratio + epsilon);
      double delta = gap > 0 ? std::min(1.0, -std::expm1(-gap / 2) * (1 + 8 * unit)) : 0.0;
      std::printf("{\"id\": %ld, \"value\": %.17g}\n", id, delta);
    }
    std::fflush(stdout);
  }
}
