import { removalScript } from '@mutirao/runtime/files';

/**
 * Scripts for the host of a kept machine, each with its arguments, as `sh -c` takes them. What they answer stands
 * behind `mutirao: ` on a line.
 */

/**
 * What stands in `agent.pid` of an agent that dials the socket of its folder; a former release wrote the number of a
 * port.
 */
export const socketDoor = 'socket';

/**
 * Enters the agent's folder, which is below the login's home unless it is absolute, and knows this start of the host
 * and that of the process, since numbers of
 * processes are used again.
 */
const enter = `umask 077
cd "\${HOME:-/}" && mkdir -p "$1" && cd "$1" && chmod 700 . || exit 1
boot=$(cat /proc/sys/kernel/random/boot_id 2>/dev/null)
startOf() { tr '\\n' ' ' <"/proc/$1/stat" 2>/dev/null | sed 's/.*) //' | cut -d ' ' -f 20; }
isAlive() {
  [ -s agent.pid ] && read -r pid then_ door began <agent.pid && [ "$then_" = "$boot." ] && kill -0 "$pid" 2>/dev/null &&
  { [ -z "$began" ] || [ "$began" = "$(startOf "$pid")" ]; }
}
`;

/** Answers the absolute path of the folder, and then `alive PID DOOR` where there is an agent. */
export function findScript(folder: string): readonly string[] {
  return [
    `${enter}if isAlive; then echo "mutirao: $PWD alive $pid $door"; else echo "mutirao: $PWD"; fi`,
    'find',
    folder,
  ];
}

/** What an agent is started with. */
export interface RemoteStart {
  readonly folder: string;
  readonly command: readonly string[];
}

/**
 * Starts an agent in a session of its own, and answers its process id when it has lived for a moment.
 *
 * The invitation and, where the provider speaks TLS, its authority come on lines of standard input, and the agent gets
 * the invitation the same way: arguments
 * can be seen by everybody, and the environment of a process by all that runs under its account.
 */
export function startScript({ folder, command }: RemoteStart): readonly string[] {
  const script = `${enter}shift
read -r invitation; read -r authority
[ -z "$authority" ] || export MUTIRAO_CA="$authority"
if command -v setsid >/dev/null 2>&1; then set -- setsid "$@"; else set -- nohup "$@"; fi
"$@" <<END_OF_INVITATION >/dev/null 2>agent.log &
$invitation
END_OF_INVITATION
pid=$!
echo "$pid $boot. ${socketDoor} $(startOf "$pid")" >agent.pid
for moment in 1 2 3 4 5; do
  sleep 0.1 2>/dev/null || sleep 1
  kill -0 "$pid" 2>/dev/null || { rm -f agent.pid; cat agent.log >&2; exit 1; }
done
echo "mutirao: $pid"`;
  return [script, 'start', folder, ...command];
}

/**
 * Waits until the agent has ended, and prints the end of its log. What it writes to standard error ends it when nobody
 * reads any more: a broken connection leaves no waiter behind.
 */
export function waitScript(folder: string, pid: string): readonly string[] {
  return [
    `${enter}while isAlive && [ "$pid" = "$2" ]; do echo . >&2 || exit 0; sleep 1; done; tail -n 5 agent.log`,
    'wait',
    folder,
    pid,
  ];
}

/** Ends the agent, at last by force; removes its folder where that is wanted. */
export function endScript(folder: string, removes: boolean): readonly string[] {
  const script = `${removalScript}${enter}if isAlive; then
  kill -TERM "$pid"
  for moment in 1 2 3 4 5; do isAlive || break; sleep 1; done
  isAlive && { kill -9 "-$pid" || kill -9 "$pid"; }
fi
rm -f agent.pid
[ "$2" = keep ] || { cd / && cd "\${HOME:-/}" && remove_tree "$1"; }
:`;
  return [script, 'end', folder, removes ? 'remove' : 'keep'];
}
