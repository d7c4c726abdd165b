# wisecrowd_precompile(TARGET HEADER...): what nearly every file includes is read once for TARGET, plus the HEADERs given.
# A file still includes what it uses: the clang and debug presets build without precompiled headers and would notice.
function(wisecrowd_precompile target)
  target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <cstdint> <functional> <map> <memory> <numeric>
    <optional> <span> <string> <string_view> <utility> <vector> ${ARGN})
endfunction()
