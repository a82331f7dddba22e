#include <stdlib.h>

int main(void) {
    char *volatile once = malloc(10);
    free(once);
    free(once);
}
