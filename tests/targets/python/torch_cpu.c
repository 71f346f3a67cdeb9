/* Stands for a libtorch_cpu.so with Gloo inside, as PyPI's PyTorch has it: no symbol of Gloo is
 * exported. */
void nothing(void);

void nothing(void) {}
