#include <stdexcept>

int main() { throw std::runtime_error("no device 3"); }
