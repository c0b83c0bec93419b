import { quoteWord } from '@mutirao/runtime/processes';

/**
 * The text of `$RSH_CMD`: runs a command at a member of the gang, by way of rank 0's agent.
 *
 * A shell, two or three copies of `cat` and FIFOs cost a tenth of a start of Node or of the packed executable, and are
 * on every machine that runs tasks. Its files have the name of its process: `.in`, `.out` and `.err` are the command's
 * streams, `.live` is open as long as the caller lives and takes numbers of signals, and `.end` brings `ok` or `no
 * REASON`, and then the status. The script opens each end before it notifies the agent, with descriptor 9 at the other
 * end, so that opening waits for nobody and nobody sees a false end of file. The copies ignore signals that are meant
 * for the command.
 *
 * @param folder of the gang, absolute and plain to a shell; has the FIFO `calls`.
 */
export function launcherScript(folder: string): string {
  return `#!/bin/sh
# Runs a command at a member of this task's gang: $RSH_CMD [-n] [-l USER] NAME COMMAND...
PATH=$PATH:/usr/local/bin:/usr/bin:/bin
user=
fail() { echo "gang: $1" >&2; exit 255; }
while :; do
  case \${1-} in
    -l) user=\${2-}@; shift 2 || fail 'expected a user after -l' ;;
    -n) exec </dev/null; shift ;;
    -[fqTxXAa]) shift ;;
    --) shift; break ;;
    -*) fail "option $1 is not known; expected [-n] [-l USER] NAME COMMAND..." ;;
    *) break ;;
  esac
done
[ $# -ge 2 ] || fail 'expected NAME COMMAND...'
name=$1; shift
case $name in *@*) ;; *) name=$user$name ;; esac
i=0
call=${quoteWord(folder)}/$$
until mkfifo -m 600 "$call.in" "$call.out" "$call.err" "$call.live" "$call.end" 2>/dev/null; do
  i=$((i + 1)); [ $i -lt 20 ] || fail "cannot make FIFOs in ${folder}"
  call=${quoteWord(folder)}/$$.$i
done
printf '%s\\n%s' "$name" "$*" >"$call.command" || fail 'cannot write the command'
exec 3<&0
exec 9<>"$call.in" 4>"$call.in"
exec 9<>"$call.live" 5>"$call.live"
exec 9<>"$call.out" 6<"$call.out"
exec 9<>"$call.err" 7<"$call.err"
exec 9>&- 8<>"$call.end"
caught=
trap 'caught=1; echo 1 >&5' HUP
trap 'caught=1; echo 2 >&5' INT
trap 'caught=1; echo 3 >&5' QUIT
trap 'caught=1; echo 10 >&5' USR1
trap 'caught=1; echo 12 >&5' USR2
trap 'caught=1; echo 15 >&5' TERM
echo "\${call##*/}" >${quoteWord(`${folder}/calls`)}
read -r answer <&8
[ "$answer" = ok ] || fail "\${answer#no }"
copy() { trap '' HUP INT QUIT USR1 USR2 TERM; exec 5>&- 8>&-; exec cat; }
# Where there is no input nothing has to be copied.
in=
[ /proc/self/fd/0 -ef /dev/null ] 2>/dev/null || { copy <&3 >&4 3<&- 4>&- 6<&- 7<&- & in=$!; }
copy <&6 3<&- 4>&- 6<&- 7<&- & out=$!
copy <&7 >&2 3<&- 4>&- 6<&- 7<&- & err=$!
exec 3<&- 4>&- 6<&- 7<&-
for pid in $out $err; do
  # A signal ends the waiting, and not what is waited for.
  while :; do caught=; wait $pid; [ -n "$caught" ] || break; done
done
read -r status <&8
[ -z "$in" ] || kill -9 $in 2>/dev/null
exit "\${status:-255}"
`;
}
