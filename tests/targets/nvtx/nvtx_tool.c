/* Another tool's NVTX injection library: prints its calls to standard error. It has its own
 * handles. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExtPayload.h>

static int depth;
static nvtxRangeId_t lastRange = 100;

static int onPush(const char* message) {
  fprintf(stderr, "tool: push %s\n", message);
  return 10 + depth++;
}

static int onPop(void) {
  fprintf(stderr, "tool: pop\n");
  return 10 + --depth;
}

static nvtxRangeId_t onStart(const char* message) {
  fprintf(stderr, "tool: start %s\n", message);
  return ++lastRange;
}

static void onEnd(nvtxRangeId_t id) {
  fprintf(stderr, "tool: end %llu\n", (unsigned long long)id);
}

static nvtxDomainHandle_t onDomain(const char* name) {
  return (nvtxDomainHandle_t)strdup(name);
}

static nvtxStringHandle_t onString(nvtxDomainHandle_t domain, const char* text) {
  (void)domain;
  return (nvtxStringHandle_t)strdup(text);
}

static int onDomainPush(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  const char* text = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED
                         ? (const char*)event->message.registered
                         : event->message.ascii;
  fprintf(stderr, "tool: push %s in %s\n", text, domain == NULL ? "none" : (const char*)domain);
  return 20;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t getExportTable) {
  const NvtxExportTableCallbacks* callbacks =
      (const NvtxExportTableCallbacks*)getExportTable(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table = NULL;
  unsigned size = 0;
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size);
  *table[NVTX_CBID_CORE_RangePushA] = (NvtxFunctionPointer)onPush;
  *table[NVTX_CBID_CORE_RangePop] = (NvtxFunctionPointer)onPop;
  *table[NVTX_CBID_CORE_RangeStartA] = (NvtxFunctionPointer)onStart;
  *table[NVTX_CBID_CORE_RangeEnd] = (NvtxFunctionPointer)onEnd;
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size);
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)onDomain;
  *table[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)onString;
  *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)onDomainPush;
  if (getenv("NVTX_TOOL_REFUSES") != NULL)
    return 0; /* and leaves its functions where they are */
  fprintf(stderr, "tool: here\n");
  return 1;
}

static uint8_t onIsEnabled(nvtxDomainHandle_t domain) {
  (void)domain;
  return 7;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module) {
  if (getenv("NVTX_TOOL_REFUSES") != NULL || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID)
    return 0;
  module->segments[0].functionSlots[NVTX3EXT_CBID_nvtxDomainIsEnabled] = (intptr_t)onIsEnabled;
  return 1;
}
