#!/bin/sh
# Builds target/ns2/clift.so for Debian's ns-2: `make ns2` calls it. The headers of ns-2 are in no
# package, so its source is fetched once, by a list of its own that leaves the system's alone.
set -eu
cd "$(dirname "$0")/../.."
made=target/ns2
skip() { echo "skipped: the ns-2 plugin: $1" >&2; exit 0; }

command -v ns >/dev/null || skip "ns is missing (Debian: apt install ns2)"
for header in /usr/include/tcl8.6/tcl.h /usr/include/tclcl/tclcl.h /usr/include/otcl.h; do
	test -e "$header" || skip "$header is missing (Debian: apt install tcl-dev libtclcl1-dev libotcl1-dev)"
done

mkdir -p "$made"
source=$made/ns-2.35
if ! test -e "$source/link/delay.h"; then
	fetch=$PWD/$made/fetch
	mkdir -p "$fetch/lists/partial"
	suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
	# The first site and its components: ns-2 is in another one in Ubuntu than in Debian.
	site=$(apt-get indextargets --format '$(SITE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
		awk -v suite="$suite" 'NR == 1 { site = $1 } $1 == site && !seen[$2]++ { parts = parts " " $2 }
			END { if (NR) print site, suite parts }')
	test -n "$site" || skip "apt knows no site to fetch the source of ns-2 from (apt-get update)"
	echo "deb-src $site" > "$fetch/sources.list"
	apt() {
		apt-get -qq -o Dir::Etc::sourcelist="$fetch/sources.list" -o Dir::Etc::sourceparts=/dev/null \
			-o Dir::State::lists="$fetch/lists" -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= \
			-o APT::Sandbox::User= "$@"
	}
	echo "fetching the source of ns-2 for its headers (39 MB)" >&2
	(cd "$fetch" && apt update && apt --download-only --tar-only source ns2) ||
		skip "the source of ns-2 cannot be fetched"
	tar -C "$made" --no-same-owner -xf "$fetch"/ns2_*.orig.tar.xz
	rm -rf "$fetch"
fi

{ printf 'R"TCL('; cat hosts/ns2/clift.tcl; printf ')TCL"\n'; } > "$made/clift.tcl.inc"
# What ns-2's configure would have found out.
printf '#define HAVE_SNPRINTF 1\n#define HAVE_INT64 1\n' > "$made/autoconf.h"
# Only what is reached from here is linked: the library of Parquet, which the core may have, is under a
# licence that the GPL 2 excludes.
printf '{ global: Clift_Init; local: *; };\n' > "$made/clift.map"
folders=
for folder in . common link queue trace tcp routing mcast mac lib mobile classifier apps diffusion3/lib tcl; do
	folders="$folders -isystem $source/$folder"
done
# -fpermissive: its headers are older than the language.
g++ -std=gnu++11 -O2 ${CXXFLAGS:-} -Wall -Wextra -fpermissive -fPIC -shared -fvisibility=hidden \
	-DUSE_INTERP_RESULT -DHAVE_SNPRINTF -DCPP_NAMESPACE=std -DHAVE_INT64 -DSTDC_HEADERS \
	-I "$made" -I target/c -isystem /usr/include/tclcl -isystem /usr/include/tcl8.6 $folders \
	hosts/ns2/clift.cc target/c/libclift.a -Wl,--version-script="$made/clift.map" -Wl,--gc-sections -lpthread -ldl -lm \
	-o "$made/clift.so.new"
mv "$made/clift.so.new" "$made/clift.so"
