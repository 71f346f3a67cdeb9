/* Uses functions that tests/targets/nvtx/nvtx_tool.c listens to, and some others. */
#include <nvtx3/nvToolsExtPayload.h>
#include <stdio.h>

int main(void) {
  printf("push %d\n", nvtxRangePushA("outer"));
  nvtxMarkA("not for the tool");
  printf("pop %d\n", nvtxRangePop());
  nvtxRangeId_t known = nvtxRangeStartA("known");
  nvtxRangeId_t unknown = nvtxRangeStartW(L"unknown");
  nvtxRangeEnd(unknown);
  nvtxRangeEnd(known);
  nvtxDomainHandle_t domain = nvtxDomainCreateA("shared");
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "text");
  printf("push %d\n", nvtxDomainRangePushEx(domain, &event));
  printf("pop %d\n", nvtxDomainRangePop(domain));
  /* A domain that the tool cannot know. */
  nvtxDomainHandle_t wide = nvtxDomainCreateW(L"wide");
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "in wide";
  nvtxDomainRangePushEx(wide, &event);
  nvtxDomainRangePop(wide);
  printf("enabled %d\n", nvtxDomainIsEnabled(domain));
  return 0;
}
