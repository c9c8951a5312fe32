/* The agent's number, and the only place that has it; 256-510 are free. */
#define KMMV 389
