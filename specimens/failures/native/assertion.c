#include <assert.h>

static void check(int size) { assert(size > 0); }

int main(void) { check(-1); }
