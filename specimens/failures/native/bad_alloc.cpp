#include <vector>

int main() { std::vector<char> everything(1UL << 60); return everything[5]; }
