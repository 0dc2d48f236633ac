# What `cmake --install` puts where, and the package that find_package(exotune) reads:
#
#   bin/exo-tune                 the command
#   include/exotune/             the headers, as the source tree has them, and exotune.h
#   lib/                         one static library per folder, lib/cmake/exotune/ the package
#   share/exotune/hw, kernels, rules   targets, built-in kernels, rewrite rules, as text
#
# A consumer writes: find_package(exotune REQUIRED) and links exotune::exotune (everything), or one
# folder's library such as exotune::frontend.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Which find_package call provides an imported target's namespace.
set(exotune_package_TBB TBB)
set(exotune_package_fmt fmt)
set(exotune_package_z3 Z3)
set(exotune_package_nlohmann_json nlohmann_json)
set(exotune_package_tomlplusplus tomlplusplus)
set(exotune_package_SQLite SQLite3)
set(exotune_package_SQLiteCpp SQLiteCpp)
set(exotune_package_CpuFeatures CpuFeatures)
set(exotune_package_Threads Threads)
set(exotune_package_Boost Boost)
set(exotune_package_CLI11 CLI11)

get_property(exotune_libraries GLOBAL PROPERTY EXOTUNE_LIBRARIES)
add_library(exotune INTERFACE)
add_library(exotune::exotune ALIAS exotune)
target_link_libraries(exotune INTERFACE ${exotune_libraries})
target_include_directories(exotune INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)

# The packages that a consumer of the static libraries must find again: read off the link lines, so
# that a new dependency of a folder cannot be forgotten here.
set(EXOTUNE_DEPENDENCIES "")
foreach(library ${exotune_libraries})
  get_target_property(type ${library} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
  else()
    get_target_property(links ${library} LINK_LIBRARIES)
  endif()
  foreach(link ${links})
    if(NOT link MATCHES "^exotune::" AND link MATCHES "^([A-Za-z0-9_]+)::")
      if(NOT DEFINED exotune_package_${CMAKE_MATCH_1})
        message(FATAL_ERROR "${library} links ${link}: name its package in ExoTuneInstall.cmake")
      endif()
      list(APPEND EXOTUNE_DEPENDENCIES ${exotune_package_${CMAKE_MATCH_1}})
    elseif(DEFINED exotune_package_${link})  # an imported target without a namespace
      list(APPEND EXOTUNE_DEPENDENCIES ${exotune_package_${link}})
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES EXOTUNE_DEPENDENCIES)

install(TARGETS ${exotune_libraries} exotune EXPORT exotuneTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT exotuneTargets NAMESPACE exotune::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/exotune)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/exotuneConfig.cmake.in
  ${PROJECT_BINARY_DIR}/exotuneConfig.cmake
  PATH_VARS CMAKE_INSTALL_DATADIR
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/exotune)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/exotuneConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/exotuneConfig.cmake
  ${PROJECT_BINARY_DIR}/exotuneConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/exotune)

# The same for pkg-config: one group of archives, then the shared libraries below them.
set(exotune_archives "")
foreach(library ${exotune_libraries})
  get_target_property(type ${library} TYPE)
  if(NOT type STREQUAL "INTERFACE_LIBRARY")
    string(APPEND exotune_archives " -l${library}")
  endif()
endforeach()
file(RELATIVE_PATH EXOTUNE_FROM_PC_TO_PREFIX
  "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file(${CMAKE_CURRENT_LIST_DIR}/exotune.pc.in ${PROJECT_BINARY_DIR}/exotune.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/exotune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

foreach(folder core hw cost runners db search)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION include/exotune
    FILES_MATCHING PATTERN "*.h")
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/exotune DESTINATION include)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/hw DESTINATION share/exotune
  FILES_MATCHING PATTERN "*.toml" PATTERN "*.exo")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/search/eqsat/rules DESTINATION share/exotune)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/kernels OPTIONAL DESTINATION share/exotune
  FILES_MATCHING PATTERN "*.toml" PATTERN "*.exo" PATTERN "*.sched")
if(TARGET exo-tune)
  install(TARGETS exo-tune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # The command writes its own manual page and completion, as they are installed: they cannot fall
  # behind, and are not missing where only some targets were built.
  foreach(what man bash-completion)
    install(CODE "execute_process(COMMAND \"$<TARGET_FILE:exo-tune>\" manual ${what}
      OUTPUT_FILE \"${PROJECT_BINARY_DIR}/exo-tune.${what}\" COMMAND_ERROR_IS_FATAL ANY)")
  endforeach()
  install(FILES ${PROJECT_BINARY_DIR}/exo-tune.man RENAME exo-tune.1
    DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/exo-tune.bash-completion RENAME exo-tune
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
