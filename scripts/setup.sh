# Sourced by ./run and ./test: brings the machine and the build tree to where the program can be built, and builds it.
# Everything it says goes to standard error, and it says nothing when there is nothing to do.
# Expects `root`, the absolute path of the checkout.
# shellcheck shell=bash

build_dir=$root/build/release

say() { printf 'wisecrowd: %s\n' "$*" >&2; }
fail() {
  say "$@"
  exit 1
}

# Packages of the given levels that are not installed, one per line. One marked with * is not missed where a command of its
# name exists: npm, say, may have come with another node than Debian's, and the two cannot be installed side by side.
missing_packages() {
  local levels=" $* " package level rest wanted=()
  while read -r package level rest; do
    [[ -z $package || $package == \#* ]] && continue
    [[ $package == *'*' ]] && { package=${package%'*'}; command -v "$package" >/dev/null && continue; }
    [[ $levels == *" $level "* ]] && wanted+=("$package")
  done <"$root/scripts/packages.txt"
  local installed
  # dpkg-query fails when one of the names is unknown; its output is complete all the same.
  installed=$(dpkg-query --show --showformat='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null) || true
  for package in "${wanted[@]}"; do
    [[ $'\n'$installed$'\n' == *$'\n'"$package installed"$'\n'* ]] || printf '%s\n' "$package"
  done
}

install_packages() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is no Debian system: not installing anything; scripts/packages.txt lists what the build needs"
    return
  fi
  local missing
  read -r -d '' -a missing <<<"$(missing_packages "$@")" || true
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail "these Debian packages are missing: ${missing[*]}" $'\n'"           install them as root: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing Debian packages${as_root[*]:+ through sudo}: ${missing[*]}"
  mkdir -p "$root/build"
  local log=$root/build/install.log
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=600)
  "${apt[@]}" update >"$log" 2>&1 && "${apt[@]}" install --no-install-recommends "${missing[@]}" >>"$log" 2>&1 || {
    cat "$log" >&2
    fail "the packages could not be installed; the reason is above (and in $log)"
  }
}

# What a build tree is tied to: -march=native ties it to this CPU, CMake ties it to this path and compiler.
machine_identity() {
  local compiler
  compiler=$(command -v "${CXX:-c++}") || return 0
  printf '%s\n' "$root" "$compiler"
  "$compiler" --version 2>/dev/null
  # grep -m1 returns at the first core. Other architectures call the line "Features".
  grep -m1 -s -E '^(flags|Features)' /proc/cpuinfo || true
}

# prepare LEVEL…: packages and configuration. Looks at them only when an input has changed since the last time.
prepare() {
  local stamp=$build_dir/setup.stamp machine inputs goal=${*: -1}
  machine=$(machine_identity | sha256sum)
  inputs=$(cat "$root/scripts/packages.txt" "$root/scripts/setup.sh" "$root/CMakePresets.json" | sha256sum)
  if [[ -f $stamp && -f $build_dir/build.ninja ]]; then
    local known_machine known_inputs known_levels
    { read -r known_machine; read -r known_inputs; read -r known_levels; } <"$stamp" || true
    if [[ $known_machine == "$machine" && $known_inputs == "$inputs" && " $known_levels " == *" $goal "* ]]; then
      return
    fi
  fi

  install_packages "$@"
  machine=$(machine_identity | sha256sum)
  # A tree of another machine, path or compiler cannot be trusted: -march=native means something else here.
  if [[ -d $build_dir && ${known_machine:-none} != "$machine" ]]; then rm -rf "$build_dir"; fi
  mkdir -p "$build_dir"
  local options=()
  if [[ $goal == test ]]; then
    options+=(-DWISECROWD_BUILD_TESTS=ON)
  elif [[ ! -f $build_dir/CMakeCache.txt ]]; then
    options+=(-DWISECROWD_BUILD_TESTS=OFF)  # the program alone does not need the test-only packages
  fi
  say "configuring build/release"
  (cd "$root" && cmake --preset release "${options[@]}") >"$build_dir/configure.log" 2>&1 || {
    cat "$build_dir/configure.log" >&2
    fail "configuring failed; the reason is above"
  }
  local lacking wanted=''
  [[ " $* " == *' page '* ]] && wanted='Report:.*no page'
  [[ " $* " == *' plugin '* ]] && wanted+='|PNG pictures:.*SVG alone|No libtorch'
  while read -r lacking; do
    say "${lacking#-- }"
  done < <([[ -z $wanted ]] || grep -E "$wanted" "$build_dir/configure.log")
  printf '%s\n' "$machine" "$inputs" "$*" >"$stamp"
}

# Seconds between two lines about progress where there is no terminal to draw a line on again and again.
progress_pause=30

# How long the rest of the steps takes if they are like those before: done, all, milliseconds so far.
time_left() {
  local seconds=$(($3 * ($2 - $1) / $1 / 1000))
  if ((seconds < 60)); then
    printf 'less than a minute left'
  else
    printf 'about %d min left' $(((seconds + 30) / 60))
  fi
}

# Turns ninja's log, with its steps and milliseconds in front of every line, into a progress line on a terminal, or into
# a line now and then elsewhere; nothing when nothing is built.
show_progress() {
  local line step announced='' terminal='' said=0
  [[ -t 2 ]] && terminal=yes
  while IFS= read -r line; do
    [[ $line =~ ^\[([0-9]+)/([0-9]+)\ ([0-9]+)\.([0-9]{3})\]\ (.*) && $line != *'Re-checking globbed directories'* ]] || continue
    local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]} milliseconds=$((10#${BASH_REMATCH[3]}${BASH_REMATCH[4]}))
    step="step $done of $all"
    # The first steps say little about the others.
    if ((done >= 5)); then step+=", $(time_left "$done" "$all" "$milliseconds")"; fi
    if [[ $terminal ]]; then
      printf '\r\e[K%.*s' $((${COLUMNS:-80} - 1)) "wisecrowd: building, $step: ${BASH_REMATCH[5]##*/}" >&2
    elif [[ ! $announced ]]; then
      say "building (log: build/release/build.log)"
    elif ((milliseconds / 1000 >= said + progress_pause)); then
      said=$((milliseconds / 1000))
      say "building, $step"
    fi
    announced=yes
  done
  if [[ $announced && $terminal ]]; then printf '\r\e[K' >&2; fi
}

# build TARGET…: one after the other; silent when up to date; the whole log when one fails.
build() {
  local log=$build_dir/build.log machine target
  set -o pipefail
  for target in "$@"; do
    NINJA_STATUS='[%f/%t %e] ' ninja -C "$build_dir" "$target" 2>&1 | tee "$log" | show_progress && continue
    cat "$log" >&2
    # Look at packages and configuration again next time, but keep what was built.
    read -r machine <"$build_dir/setup.stamp"
    printf '%s\n' "$machine" '' '' >"$build_dir/setup.stamp"
    fail "the build failed; the log is above"
  done
}

# level_of ARGUMENT…: what a command needs (scripts/packages.txt): plugin where it may load one (libtorch, cairo), page where
# it may write a report, otherwise run. Commands that load no plugin are listed, so that nobody waits for libtorch to see the
# version; tests/cli/startup_test.py sees that they do not. A program without the page refuses to write a report.
level_of() {
  local argument
  for argument; do
    if [[ $argument == --help ]]; then echo run; return; fi
  done
  case ${1:-demo} in
    demo | report) echo page ;;
    -* | aggregate | completion | describe | evaluate | methods | simulate | state)
      for argument; do
        if [[ $argument == --report* ]]; then echo page; return; fi
      done
      echo run
      ;;
    *) echo plugin ;;
  esac
}

# set_up "TARGET…" LEVEL…: all of it, one caller at a time.
set_up() {
  local targets=$1
  shift
  mkdir -p "$root/build"
  exec {setup_lock}>"$root/build/.setup.lock"
  flock "$setup_lock"
  prepare "$@"
  # shellcheck disable=SC2086  # targets are words
  build $targets
  exec {setup_lock}>&-
}
