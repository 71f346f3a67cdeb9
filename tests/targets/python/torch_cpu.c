/* Stands for a libtorch_cpu.so that contains Gloo, like PyPI's PyTorch: it exports no symbol of
 * Gloo. */
void nothing(void);

void nothing(void) {}
