import { posix } from 'node:path';
import { MutiraoError } from '@mutirao/api/errors';
import type { Root } from '@mutirao/core/messages';
import { removalScript } from '@mutirao/runtime/files';
import { quoteWord } from '@mutirao/runtime/processes';

/**
 * Scripts that a machine's /bin/sh runs. Each begins behind `framing`, and needs no more there than what POSIX asks of
 * a host.
 */

/** Bytes that are kept of each of a task's two streams. */
export const outputKeptMax = 512 * 1024;
/** Files that one output may hold. */
export const filesMax = 10_000;

const boot = 'boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)\n';
/** Signals what a run's pid file names, unless the machine was started again since. */
const signal =
  'signal_() { if [ -s "$1/pid" ]; then read -r pid target then_ <"$1/pid"; [ "$then_" = "$boot" ] && kill ' +
  '"-$2" "$target" 2>/dev/null; fi; }\n';
/** Whether a folder is a root or inside it, by its true path. */
const inside =
  'inside() { at=$(cd "$2" 2>/dev/null && pwd -P && echo x); case "$at" in "$1"/*|"$1\nx") return 0;; esac; ' +
  'return 1; }\n';

/**
 * Creates the folder of a machine's files, ends and removes what a former agent left, and prints a line each for
 * folder, system, processor, name, processors and memory in MiB.
 *
 * @param folder absolute, or below the login's home.
 */
export function openScript(folder: string): string {
  const below = folder.replace(/^~\//, '');
  return `${removalScript}${boot}${signal}${posix.isAbsolute(below) ? '' : 'cd "${HOME:-/}" || exit 1\n'}mkdir -p ${quoteWord(below)} && cd ${quoteWord(below)} || exit 1
for run in runs/*; do if [ ! -e "$run/status" ]; then signal_ "$run" KILL; fi; done
for old in runs contents scripts; do remove_tree "$old"; done
mkdir -p runs contents scripts storage || exit 1
processors=$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc 2>/dev/null || echo 1)
memory=$(awk '/^MemTotal:/ { print int($2 / 1024) }' /proc/meminfo 2>/dev/null)
answer; pwd -P; uname -s; uname -m; uname -n; echo "$processors"; echo "$memory"; finish
`;
}

/** An input to be put in place. */
export interface Placing {
  readonly sha256: string;
  readonly size: number;
  readonly root: Root;
  readonly path: string;
  readonly mode: number;
}

/** Where a run's files are on the machine; absolute. */
export interface RunFolders {
  readonly base: string;
  readonly run: string;
  readonly playpen: string;
  readonly storage: string;
}

/**
 * Creates a run's playpen, drops contents that are not kept any more, and puts inputs in place.
 *
 * Answers `ok`, `missing SHA256` for a content that did not arrive whole (by its hash if the machine can compute one,
 * and by its size otherwise), `escapes INDEX`, or `folder INDEX` where a folder is in the way. Other failures go to
 * standard error, without an answer.
 */
export function placeScript(folders: RunFolders, inputs: readonly Placing[], dropped: readonly string[]): string {
  const contents = `${folders.base}/contents`;
  const lines = inputs.map((input, index) => {
    const path = normalizeInside(input.path);
    const words = [
      input.sha256,
      input.size,
      folders[input.root],
      posix.dirname(path),
      posix.basename(path),
      (input.root === 'playpen' ? input.mode : (input.mode | 0o400) & 0o555).toString(8),
    ];
    return `put ${words.map((word) => quoteWord(String(word))).join(' ')} ${index}`;
  });
  return `${inside}cd ${quoteWord(contents)} && mkdir -p ${quoteWord(folders.playpen)} ${quoteWord(folders.storage)} || exit 1
${dropped.length === 0 ? '' : `rm -f ${dropped.join(' ')}\n`}isWhole() {
  [ -f "$1.part" ] && [ "$(($(wc -c <"$1.part")))" -eq "$2" ] || return 1
  if command -v sha256sum >/dev/null 2>&1; then found=$(sha256sum <"$1.part")
  elif command -v shasum >/dev/null 2>&1; then found=$(shasum -a 256 <"$1.part")
  elif command -v openssl >/dev/null 2>&1; then found=$(openssl dgst -sha256 -r <"$1.part")
  else return 0; fi
  [ "\${found%% *}" = "$1" ]
}
put() {
  if [ ! -f "$1" ]; then
    isWhole "$1" "$2" && mv "$1.part" "$1" || { answer; echo "missing $1"; finish; exit; }
  fi
  mkdir -p "$3/$4" || exit 1
  inside "$3" "$3/$4" || { answer; echo "escapes $7"; finish; exit; }
  if [ -f "$3/$4/$5" ] && [ ! -L "$3/$4/$5" ] && cmp -s "$1" "$3/$4/$5"; then chmod "$6" "$3/$4/$5"; return; fi
  [ -d "$3/$4/$5" ] && { answer; echo "folder $7"; finish; exit; }
  cp "$1" "$3/$4/.$$.mutirao" && chmod "$6" "$3/$4/.$$.mutirao" && mv -f "$3/$4/.$$.mutirao" "$3/$4/$5" || exit 1
}
${lines.join('\n')}
answer; echo ok; finish
`;
}

/** @throws {MutiraoError} MUT_PATH_ESCAPES */
function normalizeInside(path: string): string {
  const normal = posix.normalize(path).replace(/(?<=.)\/+$/, '');
  const fault = path.includes('\0')
    ? 'it holds a NUL'
    : posix.isAbsolute(path)
      ? 'it is absolute; expected a path relative to the root'
      : normal.split('/')[0] === '..'
        ? 'it leaves its root by ".."'
        : '';
  if (fault !== '') throw new MutiraoError('MUT_PATH_ESCAPES', `path is ${JSON.stringify(path)}; ${fault}`);
  return normal;
}

/** Prints a run's end: its status, and the kept part of its two streams. */
const report = `tell() {
  status=137
  [ -s "$1/status" ] && read -r status <"$1/status"
  [ -e "$1/out" ] || : >"$1/out"; [ -e "$1/err" ] || : >"$1/err"
  out=$(($(wc -c <"$1/out"))); err=$(($(wc -c <"$1/err")))
  outKept=$out; errKept=$err
  [ "$outKept" -gt ${outputKeptMax} ] && outKept=${outputKeptMax}
  [ "$errKept" -gt ${outputKeptMax} ] && errKept=${outputKeptMax}
  answer; echo "$status $out $err $outKept $errKept"
  head -c "$outKept" "$1/out"; head -c "$errKept" "$1/err"; finish
}
`;

/** Whether a run's leader lives. */
const lives =
  'lives() { [ -s "$1/pid" ] && read -r pid target then_ <"$1/pid" && [ "$then_" = "$boot" ] && kill -0 "$pid" ' +
  '2>/dev/null; }\n';

/**
 * Leads a run: notes who it is, runs the line, notes its status, and ends what is left of its group. It gets the run's
 * folder, the line, and whether it has a group.
 *
 * It is apart from the script that waits for it, so that a connection that breaks takes nothing along.
 */
const leader = `trap : TERM HUP
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
if [ "$3" = group ]; then target="-$$"; else target=$$; fi
echo "$$ $target $boot" >"$1/pid"
if [ -e "$1/killed" ]; then echo 143 >"$1/status"; exit; fi
umask "$4"
/bin/sh -c "$2"
status=$?
umask 077
echo "$status" >"$1/status.new"; mv "$1/status.new" "$1/status"
[ "$3" = group ] && kill -9 "$target"
`;

/**
 * Runs a line in a run's playpen, once however often it is asked to, and prints its end.
 *
 * @param exports assignments in shell syntax. PATH is the machine's own, followed by storage, playpen and `.`.
 */
export function runScript(folders: RunFolders, line: string, exports: string): string {
  const [run, playpen, storage] = [folders.run, folders.playpen, folders.storage].map(quoteWord);
  return `${boot}${lives}${report}trap : HUP
mkdir -p ${playpen} ${storage} && cd ${playpen} || exit 1
mkdir ${run}/begun || exit 1
PATH="\${PATH:-/usr/local/bin:/usr/bin:/bin}":${storage}:${playpen}:.
export PATH PLAYPEN=${playpen} STORAGE=${storage} ${exports}
if command -v setsid >/dev/null 2>&1; then set -- group setsid; else set -- alone; fi
kind=$1; shift
( exec "$@" /bin/sh -c ${quoteWord(leader)} leader ${run} ${quoteWord(line)} "$kind" "$mask" ) </dev/null >${run}/out 2>${run}/err
while [ ! -e ${run}/status ] && lives ${run}; do sleep 1; done
tell ${run}
`;
}

/** Says of a run whose connection broke what it is: its end, or `running`, `fresh` (it never began) or `gone`. */
export function lookScript({ run }: RunFolders): string {
  const folder = quoteWord(run);
  return `${boot}${lives}${report}if [ -e ${folder}/status ]; then tell ${folder}; exit; fi
if lives ${folder}; then state=running; elif [ ! -e ${folder}/begun ]; then state=fresh; else state=gone; fi
answer; echo "$state"; finish
`;
}

/** Signals a run, and keeps one that has not begun from beginning. */
export function signalScript({ run }: RunFolders, name: 'SIGTERM' | 'SIGKILL'): string {
  const folder = quoteWord(run);
  return `${boot}${signal}mkdir -p ${folder}; : >${folder}/killed; signal_ ${folder} ${name.slice(3)}; answer; finish\n`;
}

/** Removes a run's files. Answers what stays, and why. */
export function removeScript({ run }: RunFolders): string {
  return (
    `${removalScript}left=$(remove_tree ${quoteWord(run)} 2>&1 | head -n 20); answer; printf '%s\\n' "$left"; ` +
    'finish\n'
  );
}

/** An output to be looked for. */
export interface Wanted {
  readonly root: Root;
  readonly path: string;
}

/** Bounds of what comes along with a listing of outputs. */
export interface InlineBounds {
  readonly each: number;
  readonly total: number;
}

/**
 * Lists the files of a run's outputs, small ones with their bytes; large ones are put under their numbers into
 * `outputs` of the run.
 *
 * A link is replaced by its target, within the run's playpen and storage, as in `OutputFinder`.
 *
 * @param isPartial leaves out unreadable files; otherwise the first is reported and ends the list.
 */
export function listScript(
  folders: RunFolders,
  outputs: readonly Wanted[],
  { isPartial, ...bounds }: InlineBounds & { readonly isPartial: boolean },
): string {
  const lines = outputs.map(({ root, path }, index) => {
    const normal = normalizeInside(path);
    const [place, above] =
      normal === '.'
        ? [folders[root], folders[root]]
        : [`${folders[root]}/${normal}`, posix.dirname(`${folders[root]}/${normal}`)];
    return `output ${index} ${[folders[root], place, above].map(quoteWord).join(' ')}`;
  });
  return `${inside}LC_ALL=C; export LC_ALL
cd ${quoteWord(folders.run)} && { [ ! -L outputs ] || rm -f outputs; } && mkdir -p outputs && rm -f outputs/[0-9]* || exit 1
number=0; total=0
fail() { ${isPartial ? ':' : 'echo "$1 $2"; finish; exit'}; }
reach() { [ ! -L "$2" ] || { true_=$(readlink -f "$2" 2>/dev/null && echo x) && case "$true_" in "$1"/*) true;; *) false;; esac; }; }
file() {
  number=$((number + 1))
  [ "$number" -le ${filesMax} ] || { fail L "$1"; return; }
  set -f; set -- "$1" "$2" "$3" $(ls -dnL "$3"); set +f
  if [ "$8" -le ${bounds.each} ] && [ "$((total + $8))" -le ${bounds.total} ] && cp "$3" "outputs/$number"; then
    kept=$(($(wc -c <"outputs/$number"))); total=$((total + kept))
    echo "F $1 $number $kept $4 $kept"; printf '%s\\0' "$2"; head -c "$kept" "outputs/$number"; rm -f "outputs/$number"
  else
    { [ ! -L "$3" ] && ln "$3" "outputs/$number" 2>/dev/null; } || cp "$3" "outputs/$number" || exit 1
    echo "F $1 $number $8 $4 -"; printf '%s\\0' "$2"
  fi
}
walk() {
  [ -r "$2/$3" ] && [ -x "$2/$3" ] || { fail R "$1"; return; }
  for item in "$2/$3"* "$2/$3".[!.]* "$2/$3"..?*; do
    if [ -L "$item" ]; then follow "$1" "$2" "$item" "$4"
    elif [ ! -e "$item" ]; then :
    elif [ -d "$item" ]; then walk "$1" "$2" "\${item#"$2/"}/" "$4$item/
"
    elif [ -f "$item" ]; then plain "$1" "\${item#"$2/"}" "$item"
    else fail N "$1"; fi
  done
}
plain() { if [ -r "$3" ]; then file "$1" "$2" "$3"; else fail R "$1"; fi; }
follow() {
  true_=$(readlink -f "$3" 2>/dev/null) && [ -e "$3" ] || { fail K "$1"; return; }
  case "$true_" in ${quoteWord(folders.playpen)}/*|${quoteWord(folders.storage)}/*) ;; *) fail K "$1"; return;; esac
  if [ -f "$3" ]; then plain "$1" "\${3#"$2/"}" "$3"
  elif [ -d "$3" ]; then
    case "$4" in *"
$true_/
"*) fail K "$1"; return;; esac
    walk "$1" "$2" "\${3#"$2/"}/" "$4$true_/
"
  else fail N "$1"; fi
}
output() {
  [ -d "$4" ] || { fail M "$1"; return; }
  inside "$2" "$4" || { fail E "$1"; return; }
  [ -e "$3" ] || { fail M "$1"; return; }
  reach "$2" "$3" || { fail E "$1"; return; }
  if [ -d "$3" ]; then walk "$1" "$3" '' "
$(readlink -f "$3")/
"; elif [ -f "$3" ]; then file "$1" '' "$3"; else fail N "$1"; fi
}
answer
${lines.join('\n')}\nfinish
`;
}
