  .option arch, +zicsr
  .section .text.init, "ax"
  .globl _start
_start:
  csrr t0, mhartid
  bnez t0, exo_park
  /* Not every machine can stop its counters; where it can, they shall run. */
  la t0, 1f
  csrw mtvec, t0
  csrw 0x320, zero
  .balign 4
1:
  la t0, exo_trap_entry
  csrw mtvec, t0
  /* Floats and extensions are on; bits that do not exist stay zero. */
  li t0, 0x1e000
  csrs mstatus, t0
  .option push
  .option norelax
  la gp, __global_pointer$
  .option pop
  la sp, exo_stack_top
  la tp, exo_thread
  call exo_main
  call exo_exit
exo_park:
  wfi
  j exo_park

  .balign 4
exo_trap_entry:
  la sp, exo_trap_stack_top
  csrr a0, mcause
  csrr a1, mepc
  csrr a2, mtval
  call exo_trap
  j exo_park

  .section .tohost, "aw", @progbits
  .balign 64
  .globl tohost
tohost: .dword 0
  .globl fromhost
fromhost: .dword 0
