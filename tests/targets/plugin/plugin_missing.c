/* plugin_links needs this library, and the loader does not find it. */
int plugin_missing(void) {
  return 1;
}
