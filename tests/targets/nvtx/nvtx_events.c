/* Calls every function of NVTX's core once or more and prints the levels that push and pop
 * returned. */
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtSync.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

static nvtxEventAttributes_t event(const char* message) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

static void defaultDomain(void) {
  printf("push %d\n", nvtxRangePushA("outer"));
  printf("push %d\n", nvtxRangePushW(L"gr\u00fc\u00dfe \U0001F600"));
  nvtxEventAttributes_t inner = event("inner");
  inner.category = 7;
  inner.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  inner.payload.llValue = -42;
  nvtxNameCategoryA(7, "seven");
  printf("push %d\n", nvtxRangePushEx(&inner));
  for (int i = 0; i < 3; ++i)
    printf("pop %d\n", nvtxRangePop());
  printf("pop %d\n", nvtxRangePop()); /* one too many */
  nvtxMarkA("mark a");
  nvtxMarkW(L"mark w");
  nvtxEventAttributes_t mark = event("mark ex");
  mark.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  mark.payload.dValue = 0.5;
  nvtxMarkEx(&mark);
  nvtxRangePushA("ProfilerStep#3");
  nvtxRangePop();
  nvtxRangePushA("");
  nvtxRangePop();
}

static void payloads(void) {
  nvtxEventAttributes_t e = event("uint64");
  e.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  e.payload.ullValue = 1234567890123ull;
  nvtxMarkEx(&e);
  e = event("uint32");
  e.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  e.payload.uiValue = 4000000000u;
  nvtxMarkEx(&e);
  e = event("int32");
  e.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  e.payload.iValue = -5;
  nvtxMarkEx(&e);
  e = event("float");
  e.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  e.payload.fValue = 1.25f;
  nvtxMarkEx(&e);
}

static void domains(void) {
  nvtxDomainHandle_t net = nvtxDomainCreateA("net");
  nvtxDomainHandle_t disk = nvtxDomainCreateW(L"disk");
  nvtxDomainNameCategoryA(net, 1, "rpc");
  nvtxDomainNameCategoryW(disk, 1, L"read");
  nvtxEventAttributes_t call = event("call");
  call.category = 1;
  nvtxEventAttributes_t load = event("load");
  load.category = 1;
  nvtxEventAttributes_t other = event("unnamed category");
  other.category = 9;
  /* The stacks of two domains cross. */
  printf("net push %d\n", nvtxDomainRangePushEx(net, &call));
  printf("disk push %d\n", nvtxDomainRangePushEx(disk, &load));
  printf("net push %d\n", nvtxDomainRangePushEx(net, &other));
  printf("disk pop %d\n", nvtxDomainRangePop(disk));
  printf("net pop %d\n", nvtxDomainRangePop(net));
  printf("net pop %d\n", nvtxDomainRangePop(net));
  nvtxStringHandle_t registered = nvtxDomainRegisterStringA(net, "registered");
  nvtxEventAttributes_t byHandle = event(NULL);
  byHandle.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  byHandle.message.registered = registered;
  nvtxDomainMarkEx(net, &byHandle);
  byHandle.message.registered = nvtxDomainRegisterStringW(net, L"registered w");
  nvtxDomainMarkEx(net, &byHandle);
  printf("same domain %d\n", nvtxDomainCreateA("net") == net);
  nvtxDomainDestroy(disk);
  nvtxDomainDestroy(net);
}

static nvtxRangeId_t crossing;

static void* endCrossing(void* unused) {
  (void)unused;
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "closer");
  nvtxRangeEnd(crossing);
  return NULL;
}

static void ranges(void) {
  crossing = nvtxRangeStartA("crossing");
  nvtxRangeId_t overlap = nvtxRangeStartW(L"overlap");
  nvtxEventAttributes_t attributes = event("range ex");
  attributes.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  attributes.payload.llValue = 8;
  nvtxRangeId_t third = nvtxRangeStartEx(&attributes);
  nvtxDomainHandle_t domain = nvtxDomainCreateA("range domain");
  nvtxEventAttributes_t inDomain = event("range in domain");
  nvtxRangeId_t fourth = nvtxDomainRangeStartEx(domain, &inDomain);
  pthread_t thread;
  pthread_create(&thread, NULL, endCrossing, NULL);
  pthread_join(thread, NULL);
  nvtxRangeEnd(overlap);
  nvtxRangeEnd(third);
  nvtxDomainRangeEnd(domain, fourth);
}

static void names(void) {
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "driver");
  nvtxResourceAttributes_t resource = {0};
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_HANDLE;
  resource.identifier.ullValue = 0xabc;
  resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
  resource.message.ascii = "the queue";
  nvtxDomainResourceDestroy(nvtxDomainResourceCreate(NULL, &resource));
}

static void locks(void) {
  nvtxSyncUserAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = sizeof attributes;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = "spinlock";
  nvtxSyncUser_t lock = nvtxDomainSyncUserCreate(NULL, &attributes);
  nvtxDomainSyncUserAcquireStart(lock);
  nvtxDomainSyncUserAcquireSuccess(lock);
  nvtxDomainSyncUserReleasing(lock);
  nvtxDomainSyncUserDestroy(lock);
}

int main(void) {
  nvtxInitialize(NULL);
  defaultDomain();
  payloads();
  domains();
  ranges();
  names();
  locks();
  return 0;
}
