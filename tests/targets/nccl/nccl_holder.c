/* A library that contains NCCL itself, and calls it. */
static int gOpen = 0;

int ncclGroupStart(void);
int ncclGroupEnd(void);
int holderStarts(void);
int holderEnds(void);

int ncclGroupStart(void) {
  ++gOpen;
  return 0;
}

int ncclGroupEnd(void) {
  return gOpen-- > 0 ? 0 : 5;
}

int holderStarts(void) {
  return ncclGroupStart();
}

int holderEnds(void) {
  return ncclGroupEnd();
}
