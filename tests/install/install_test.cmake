# cmake -DBUILD= -DSOURCE= -DWORK= -DCXX= -DFLAGS= -P install_test.cmake
function(must)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "failed (${status}): ${ARGN}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
must(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
foreach(path bin/exo-tune include/exotune/exotune.h include/exotune/core/base/diagnostic.h
        share/exotune/hw/avx512/target.toml share/exotune/kernels/kernels.toml
        share/man/man1/exo-tune.1 share/bash-completion/completions/exo-tune
        ${LIBDIR}/pkgconfig/exotune.pc)
  if(NOT EXISTS ${WORK}/prefix/${path})
    message(FATAL_ERROR "not installed: ${path}")
  endif()
endforeach()

must(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/consumer -B ${WORK}/build
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${FLAGS}")
must(${CMAKE_COMMAND} --build ${WORK}/build)
must(${WORK}/build/consumer)
if(NOT out MATCHES "void scal" OR NOT out MATCHES "avx2 has [1-9]")
  message(FATAL_ERROR "the consumer printed: ${out}")
endif()

# The examples build against the package too; two of them are enough to link and to find the data.
must(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/../../examples -B ${WORK}/examples
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${CXX} "-DCMAKE_CXX_FLAGS=${FLAGS}")
must(${CMAKE_COMMAND} --build ${WORK}/examples --target example_tile_2d example_own_instructions)
must(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/examples -R "tile_2d|own_instructions")

# pkg-config names the same headers and libraries.
find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  must(${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${WORK}/prefix/${LIBDIR}/pkgconfig
    ${PKG_CONFIG} --cflags --libs exotune)
  string(STRIP "${out}" flags)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  separate_arguments(own UNIX_COMMAND "${FLAGS}")
  must(${CXX} -std=c++20 ${own} -DEXOTUNE_DATA_DIR="${WORK}/prefix/share/exotune"
    ${SOURCE}/consumer/consumer.cc -o ${WORK}/by_pkg_config ${flags})
  must(${WORK}/by_pkg_config)
endif()

# The installed command finds its targets and kernels beside itself, not in the source tree.
must(${CMAKE_COMMAND} -E env --unset=EXOTUNE_DATA ${WORK}/prefix/bin/exo-tune list targets)
if(NOT out MATCHES "avx512")
  message(FATAL_ERROR "the installed command lists: ${out}")
endif()
