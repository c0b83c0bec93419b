import { removalScript } from '@mutirao/runtime/files';

// What runs on a site's host, for a Bourne shell and what every Linux has. A site there is a folder: BASE/front/NAME.

const common = `
umask 077
base=$1 name=$2
case $base in /*) ;; *) base=$HOME/$base ;; esac
front=$base/front/$name
here=$(uname -n)
# Whether the process of kind $1 was started on another host, which shares this folder: its state is unknown here.
elsewhere() { read -r _ _ host 2>/dev/null <"$front/$1.pid" && [ "\${host:-$here}" != "$here" ]; }
# Whether process $1 is ours of kind $2: numbers are used again, so its command line must say so.
alive() { [ -n "$1" ] && tr '\\000' ' ' <"/proc/$1/cmdline" 2>/dev/null | grep -q " run $2 --id $name "; }
`;

/** BASE NAME SHA OWNER: makes the folders and prints the state there, a \`key=value\` a line. */
export const lookScript: string = `${common}
mkdir -p -- "$base/programs" "$front" || exit 1
printf 'base=%s\\n' "$base"
printf 'system=%s\\n' "$(uname -sm)"
if [ ! -f "$front/owner" ]; then printf '%s\\n' "$4" >"$front/owner" || exit 1; fi
printf 'owner=%s\\n' "$(cat "$front/owner")"
[ -x "$base/programs/$3/mutirao" ] && echo has=program
for kind in cluster provider; do
  if elsewhere "$kind"; then printf 'elsewhere=%s here=%s kind=%s\\n' "$host" "$here" "$kind"
  elif read -r pid program host <"$front/$kind.pid" 2>/dev/null && alive "$pid" "$kind"; then
    printf '%s=%s %s\\n' "$kind" "$pid" "$program"
  fi
done 2>/dev/null
[ -f "$front/providers/$name/provider.json" ] && printf 'info=%s\\n' "$(cat "$front/providers/$name/provider.json")"
[ -f "$front/token" ] && printf 'token=%s\\n' "$(cat "$front/token")"
exit 0
`;

/**
 * BASE NAME SHA BYTES: reads the gzipped executable, checks it, has it run once, and puts it in its place. Nothing is
 * left of one that failed.
 */
export const installScript: string = `${common}
folder=$base/programs/$3
draft=$folder/mutirao.$$
mkdir -p -- "$folder" || exit 1
trap 'rm -f -- "$draft"; rmdir -- "$folder" 2>/dev/null' EXIT
gzip -dc >"$draft" || exit 1
if command -v sha256sum >/dev/null; then
  found=$(sha256sum <"$draft") && found=\${found%% *}
  [ "$found" = "$3" ] || { echo "the copy has the hash $found; expected $3" >&2; exit 1; }
else
  found=$(wc -c <"$draft")
  [ "$found" -eq "$4" ] || { echo "the copy has $found bytes; expected $4" >&2; exit 1; }
fi
chmod 700 "$draft" || exit 1
told=$("$draft" --version 2>&1) || { printf '%s\\n' "$told" >&2; exit 126; }
mv -f -- "$draft" "$folder/mutirao"
`;

/**
 * BASE NAME SHA KIND SETUP INFO OPTIONS...: starts a process of KIND, which outlives the connection, and waits until it
 * has written INFO (a file of
 * the site's folder). Prints its number and that file, or the end of its log.
 */
export const startScript: string = `${common}
sha=$3 kind=$4 setup=$5 info=$front/$6
shift 6
export MUTIRAO_HOME="$front"
cd "$front" || exit 1
[ -z "$setup" ] || eval "$setup" || { echo "the set-up command ended with status $?" >&2; exit 1; }
log=$front/$kind.log
[ ! -f "$log" ] || [ "$(wc -c <"$log")" -lt 10000000 ] || mv -f -- "$log" "$log.old"
own=$base/programs/$sha/mutirao
# A door for agents on other hosts wants an identity; the site's is its own.
case " $* " in
  *' --listen-agents'*) [ -f "$front/identity/host.crt" ] || "$own" init --home "$front" >/dev/null || exit 1 ;;
esac
set -- "$own" run "$kind" --id "$name" --home "$front" "$@"
command -v setsid >/dev/null && set -- setsid "$@"
trap '' HUP
"$@" </dev/null >>"$log" 2>&1 &
pid=$!
printf '%s %s %s\\n' "$pid" "$sha" "$here" >"$front/$kind.pid" || { kill "$pid"; exit 1; }
count=0
while [ "$count" -lt 300 ]; do
  if grep -q "\\"pid\\":$pid}" "$info" 2>/dev/null; then
    printf 'pid=%s\\n' "$pid"; printf 'info=%s\\n' "$(cat "$info")"
    [ -f "$front/token" ] && printf 'token=%s\\n' "$(cat "$front/token")"
    exit 0
  fi
  kill -0 "$pid" 2>/dev/null || { tail -n 3 "$log" >&2; exit 1; }
  sleep 0.1; count=$((count + 1))
done
kill "$pid"; echo "it did not listen within 30 s" >&2; tail -n 3 "$log" >&2; exit 1
`;

/**
 * BASE NAME SHA: removes the executables that nothing of this host runs and no site here was started with, but SHA's
 * and those of the last hour.
 */
export const cleanScript: string = `${common}${removalScript}
cd "$base/programs" || exit 0
used=" $3 $(cat "$base"/front/*/*.pid 2>/dev/null | cut -d ' ' -f 2 | tr '\\n' ' ') "
running=$(ls -l /proc/[0-9]*/exe 2>/dev/null)
find . -mindepth 1 -maxdepth 1 -type d -mmin +60 | while read -r old; do
  old=\${old#./}
  case $used in *" $old "*) continue ;; esac
  case $running in *"/programs/$old/mutirao"*) continue ;; esac
  remove_tree "$old"
done
exit 0
`;

const stop = `
for kind; do
  read -r pid program host <"$front/$kind.pid" 2>/dev/null || continue
  alive "$pid" "$kind" || continue
  kill "$pid"
  count=0
  while alive "$pid" "$kind" && [ "$count" -lt 150 ]; do sleep 0.1; count=$((count + 1)); done
  alive "$pid" "$kind" && kill -9 "$pid"
done
`;

/** BASE NAME KIND...: ends the processes of these kinds, one after the other. */
export const stopScript: string = `${common}
shift 2
${stop}
exit 0
`;

/** BASE NAME OWNER: ends what runs, removes the site's folder, and the executables when no site is left. */
export const removeScript: string = `${common}${removalScript}
[ "$(cat "$front/owner" 2>/dev/null)" = "$3" ] || exit 0
for kind in provider cluster; do
  ! elsewhere "$kind" || { echo "its $kind was started on $host, and this is $here: name that host" >&2; exit 1; }
done
set -- provider cluster
${stop}
# Processes of other hosts may write there for a moment longer.
count=0
while ! told=$(remove_tree "$front" 2>&1); do
  [ "$count" -lt 50 ] || { printf '%s\\n' "$told" >&2; exit 1; }
  sleep 0.1; count=$((count + 1))
done
rmdir -- "$base/front" 2>/dev/null && remove_tree "$base/programs" && rmdir -- "$base" 2>/dev/null
exit 0
`;

/**
 * BASE NAME KIND PID...: ends as soon as one of the processes is gone. What it writes ends it when nobody reads any
 * more.
 */
export const watchScript: string = `${common}
shift 2
while :; do
  set -- "$@" end
  while [ "$1" != end ]; do
    alive "$2" "$1" || exit 0
    kind=$1 pid=$2
    shift 2
    set -- "$@" "$kind" "$pid"
  done
  shift
  echo . || exit 0
  sleep 1
done
`;
