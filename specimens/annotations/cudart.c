/* Stands for CUDA's runtime where there is no GPU: it writes each call to $CALLS. */
#include <stdio.h>
#include <stdlib.h>

static int called(const char *name) {
    FILE *calls = fopen(getenv("CALLS"), "a");
    fprintf(calls, "%s\n", name);
    return fclose(calls);
}

int cudaProfilerStart(void) { return called("start"); }
int cudaProfilerStop(void) { return called("stop"); }
int cudaDeviceSynchronize(void) { return called("wait"); }
