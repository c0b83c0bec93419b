/**
 * Scripts for a node, with their arguments as `sh -c` takes them. A process is a file `KEY.pid` in a folder there, and
 * in the end `KEY.status`.
 */

const enter = `umask 077
cd "\${HOME:-/}" && mkdir -p ".mutirao/requests/$1" && cd ".mutirao/requests/$1" || exit 1
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
signal() { [ -s "$1" ] && read -r pid target then_ <"$1" && [ "$then_" = "$boot." ] && kill "-$2" "$target" 2>/dev/null; }
`;

/**
 * Ends what a former life of the cluster, or a lost connection, left running, and lets only the watch of `token` report
 * from now on.
 */
export function sweepScript(folder: string, token: string): readonly string[] {
  return [
    `${enter}echo "$2" >watcher
for file in *.pid; do signal "$file" 9; done
rm -f ./*.pid ./*.status ./*.out
echo swept`,
    'sweep',
    folder,
    token,
  ];
}

/**
 * Starts a process of its own group, whose environment, folder and words come on standard input as shell syntax;
 * answers when it can be signalled.
 *
 * Our names begin with `mutirao_`, for the process's environment may hold any other; the folder is
 * `mutirao_folder`.
 */
export function startScript(folder: string, key: string): readonly string[] {
  return [
    `${enter}mutirao_boot=$boot mutirao_file=$PWD/$2
eval "$(cat)" || exit 126
if command -v setsid >/dev/null 2>&1; then mutirao_how=setsid; else mutirao_how=; fi
$mutirao_how /bin/sh -c '
mutirao_file=$1 mutirao_boot=$2 mutirao_how=$3; shift 3
if [ -n "$mutirao_how" ]; then mutirao_target="-$$"; else mutirao_target=$$; fi
trap : TERM HUP
echo "$$ $mutirao_target $mutirao_boot." >"$mutirao_file.pid"
(cd "$mutirao_folder" && unset mutirao_folder && exec "$@")
mutirao_status=$?
echo "$mutirao_status" >"$mutirao_file.new"; mv "$mutirao_file.new" "$mutirao_file.status"
[ -z "$mutirao_how" ] || kill -9 "$mutirao_target"
' leader "$mutirao_file" "$mutirao_boot" "$mutirao_how" "$@" </dev/null >"$mutirao_file.out" 2>&1 &
mutirao_round=0
while [ ! -s "$mutirao_file.pid" ] && kill -0 "$!" 2>/dev/null && [ "$mutirao_round" -lt 50 ]; do sleep 0.1; mutirao_round=$((mutirao_round + 1)); done
echo started`,
    'start',
    folder,
    key,
  ];
}

/** Processes whose output is kept. */
const outputsKept = 1000;

/**
 * Waits some seconds at most until a process has ended, and prints `KEY STATUS` of each that has, or whose leader was
 * killed; after a status other than 0, its last output. A watch whose connection is lost goes on there, and must print
 * nothing.
 */
export function watchScript(folder: string, token: string): readonly string[] {
  return [
    `${enter}round=0
while [ "$round" -lt 50 ]; do
  told=
  [ "$(cat watcher)" = "$2" ] || exit 0
  for file in *.pid; do
    [ -s "$file" ] || continue
    key=\${file%.pid}
    if [ -s "$key.status" ]; then read -r status <"$key.status"
    else
      read -r pid target then_ <"$file"
      kill -0 "$pid" 2>/dev/null && continue
      status=137; [ -s "$key.status" ] && read -r status <"$key.status"
    fi
    [ "$(cat watcher)" = "$2" ] || exit 0
    signal "$file" 9
    rm -f "$file" "$key.status"
    words=; [ "$status" = 0 ] || words=" $(tail -n 1 "$key.out" 2>/dev/null | tr '\\000-\\037' ' ' | head -c 300)"
    printf '%s\\n' "$key $status$words"; told=yes
  done
  if [ -n "$told" ]; then
    ls -t ./*.out 2>/dev/null | tail -n +${outputsKept + 1} | while read -r old; do rm -f "$old"; done
    exit 0
  fi
  sleep 0.2; round=$((round + 1))
done`,
    'watch',
    folder,
    token,
  ];
}

/** Signals a process's group. */
export function signalScript(folder: string, key: string, name: 'SIGTERM' | 'SIGKILL'): readonly string[] {
  return [`${enter}signal "$2.pid" "$3"; :`, 'signal', folder, key, name.slice(3)];
}
