/* What plugin_links needs and nobody finds. */
int plugin_missing(void) {
  return 1;
}
