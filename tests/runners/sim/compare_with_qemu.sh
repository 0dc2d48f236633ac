#!/bin/sh
# compare_with_qemu.sh BIN FIRST LAST: random programs under the simulator and under qemu's user mode
# (apt-get install qemu-user gcc-riscv64-unknown-elf), seeds FIRST to LAST. BIN is a build's bin
# folder. Each program executes more than a million instructions; RV32 and RV64 take turns.
set -eu
bin=$1; first=$2; last=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/bare.ld" <<'END'
PHDRS { code PT_LOAD FLAGS(5); data PT_LOAD FLAGS(6); }
SECTIONS {
  . = 0x80000000;
  .text : { *(.text.init) *(.text) } :code
  .rodata : { *(.rodata) } :code
  . = ALIGN(4096);
  .tohost : { *(.tohost) } :data
  . = ALIGN(4096);
  .data : { *(.data) } :data
}
END
different=0
seed=$first
while [ "$seed" -le "$last" ]; do
  if [ $((seed % 2)) = 0 ]; then xlen=64 march=rv64gc mabi=lp64d isa=rv64gc; else xlen=32 march=rv32imac_zicsr mabi=ilp32 isa=rv32imac; fi
  "$bin/random_program" "$seed" $xlen > "$folder/r.S"
  cc="riscv64-unknown-elf-gcc -march=$march -mabi=$mabi -nostdlib -static"
  $cc -Ttext=0x80000000 "$folder/r.S" -o "$folder/linux"
  $cc -DBARE -T "$folder/bare.ld" "$folder/r.S" -o "$folder/bare"
  theirs=$(qemu-riscv$xlen "$folder/linux")
  ours=$("$bin/simulate_stand_in" "$folder/bare" $isa 2>&1)
  if [ "$theirs" != "$ours" ]; then echo "seed $seed rv$xlen: $theirs and $ours"; different=$((different + 1)); fi
  seed=$((seed + 1))
done
echo "$((last - first + 1)) programs, $different different"
[ "$different" = 0 ]
