import { removalScript } from '../files/index.ts';
import { runCommand, type CommandResult } from './run-command.ts';
import { quoteWord } from './shell-words.ts';

/**
 * Runs what comes on standard input as a script. It is read whole before anything of it runs, so that the task finds
 * none of it.
 */
const readScript = 'script=$(cat);eval "$script"';

/**
 * Kills the processes whose numbers are on the first line, then all of this account that have the mark of the second in
 * their environment, and removes the folder of the third.
 */
const sweepScript = `${removalScript}
read -r pids; read -r mark; IFS= read -r folder
[ -z "$pids" ] || kill -9 $pids
for round in 1 2 3 4 5; do
  marked=$(grep -lsaF -- "$mark" /proc/[0-9]*/environ)
  [ -n "$marked" ] || break
  for file in $marked; do pid=\${file#/proc/}; kill -9 "\${pid%/environ}"; done
done
[ -z "$folder" ] || remove_tree "$folder"`;

const killTimeMax = 10_000;

/**
 * Another account of this host, as which commands run through `sudo` without a password.
 *
 * Each command is /bin/sh, so that one rule for that program suffices. What must not be seen in a command line comes on
 * standard input.
 */
export class TaskAccount {
  readonly name: string;
  /**
   * The start of a command line of a shell: the command that follows has a script as its standard input, open for
   * writing as well.
   */
  readonly line: string;
  readonly #sudo: string;

  /** @param sudo path of the program. */
  constructor(name: string, sudo: string) {
    this.name = name;
    this.#sudo = sudo;
    this.line = [...this.words(), '-c', readScript, name].map(quoteWord).join(' ');
  }

  /** A shell of the account, up to its options. */
  words(): string[] {
    return [this.#sudo, '-n', '-u', this.name, '--', '/bin/sh'];
  }

  /** Runs a script as the account. */
  run(
    script: string,
    {
      args = [],
      input,
      deadlineMs,
    }: { readonly args?: readonly string[]; readonly input?: string; readonly deadlineMs: number },
  ): Promise<CommandResult> {
    const [command = '', ...words] = this.words();
    return runCommand({
      command,
      args: [...words, '-c', script, 'sh', ...args],
      cwd: '/',
      deadlineMs,
      ...(input === undefined ? {} : { input }),
    });
  }

  /** Sends a signal to processes of the account; others are left alone, whatever their numbers. Never rejects. */
  async kill(pids: readonly number[], signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    if (pids.length > 0)
      await this.run(`kill -${signal.slice(3)} $(cat)`, { input: pids.join(' '), deadlineMs: killTimeMax });
  }

  /**
   * A line of a shell that kills the processes in `$left` and those with the mark, and removes a folder of the account.
   */
  sweepLine(mark: string, folder: string): string {
    return (
      `printf '%s\\n' "$(echo $left)" ${quoteWord(mark)} ${quoteWord(folder)} | ` +
      `${[...this.words(), '-c', sweepScript].map(quoteWord).join(' ')}`
    );
  }
}
