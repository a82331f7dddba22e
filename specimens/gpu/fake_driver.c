/* A driver of two GPUs of 8 GiB that do not exist: libcuda and NVML, as far as whet asks them.

   What each process holds stands in a file of $FAKE_GPU, named GPU.PID; it counts while the process
   lives, as with the real driver. A context takes 300 MiB, an allocation a multiple of 2 MiB. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GPUS 2
#define TOTAL (8ULL << 30)
#define CONTEXT (300ULL << 20)
#define PART (2ULL << 20)

static unsigned long long held[GPUS];
static int current;

static void path_of(char *path, int gpu, int pid) {
    snprintf(path, 4096, "%s/%d.%d", getenv("FAKE_GPU"), gpu, pid);
}

static int take(int gpu, unsigned long long size) {
    char path[4096];
    held[gpu] += size;
    path_of(path, gpu, getpid());
    FILE *file = fopen(path, "w");
    if (!file) return 999;
    fprintf(file, "%llu", held[gpu]);
    fclose(file);
    return 0;
}

static unsigned long long used(int gpu) {
    unsigned long long sum = 0, size;
    struct dirent *entry;
    char link[4096];
    DIR *folder = opendir(getenv("FAKE_GPU"));
    while (folder && (entry = readdir(folder))) {
        int number, pid;
        char path[4096];
        if (sscanf(entry->d_name, "%d.%d", &number, &pid) != 2 || number != gpu) continue;
        snprintf(path, sizeof path, "/proc/%d/exe", pid);
        if (readlink(path, link, sizeof link) < 0) continue; /* it has ended */
        path_of(path, gpu, pid);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%llu", &size) == 1) sum += size;
        if (file) fclose(file);
    }
    if (folder) closedir(folder);
    return sum;
}

int cuInit(unsigned flags) { (void)flags; return getenv("FAKE_GPU") ? 0 : 100; }
int cuDeviceGetCount(int *count) {
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    *count = visible && !*visible ? 0 : GPUS;
    return 0;
}
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceTotalMem_v2(size_t *total, int device) { (void)device; *total = TOTAL; return 0; }
int cuCtxCreate_v2(void **context, unsigned flags, int device) {
    (void)flags;
    *context = &held[device];
    current = device;
    return take(device, CONTEXT);
}
int cuDeviceGetUuid(unsigned char *uuid, int device) {
    memset(uuid, 0xab, 16);
    uuid[15] = device;
    return 0;
}
int cuMemAlloc_v2(unsigned long long *address, size_t size) {
    size = (size + PART - 1) / PART * PART;
    if (used(current) + size > TOTAL) return 2;
    *address = 1;
    return take(current, size);
}

int nvmlInit_v2(void) { return 0; }
int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle) {
    int device = atoi(uuid + strlen(uuid) - 1);
    if (strncmp(uuid, "GPU-abababab-abab-abab-abab-", 28)) return 6;
    *handle = (void *)(long)(device + 1);
    return 0;
}
int nvmlDeviceGetMemoryInfo(void *handle, unsigned long long *memory) {
    int gpu = (int)(long)handle - 1;
    memory[0] = TOTAL;
    memory[2] = used(gpu);
    memory[1] = TOTAL - memory[2];
    return 0;
}
