// A libcuda.so.1 for which every stream is being captured.
int cuStreamIsCapturing(const void* stream, int* status);

int cuStreamIsCapturing(const void* stream, int* status) {
  (void)stream;
  *status = 1;
  return 0;
}
