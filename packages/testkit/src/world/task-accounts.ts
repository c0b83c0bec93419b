import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { ProgramAccount } from '../grid/program.ts';
import { programsForAll } from './accounts.ts';

/** A word of its own in the names of accounts, so that several tests may run on one host. */
const word = process.pid.toString(36);

/**
 * Two accounts of this host, made with its own tools: one for an agent, and one for its tasks. Needs root, and sudo.
 */
export class TaskAccounts {
  readonly agentName = `mta${word}`;
  readonly tasksName = `mtt${word}`;
  /** A home folder for Mutirao, of the agent's account alone. */
  readonly home = `/srv/${this.agentName}/home`;
  /** The agent's. */
  readonly account: ProgramAccount;
  readonly #programs = `/srv/mutirao-programs-${word}`;
  readonly #rules = `/etc/sudoers.d/${this.agentName}`;

  /** @throws Error where an account cannot be made. */
  constructor() {
    for (const name of this.#names)
      execFileSync('useradd', [
        '--create-home',
        '--home-dir',
        `/srv/${name}`,
        '--key',
        'HOME_MODE=0700',
        '--shell',
        '/bin/sh',
        name,
      ]);
    const idOf = (option: string): number => Number(execFileSync('id', [option, this.agentName], { encoding: 'utf8' }));
    this.account = { uid: idOf('-u'), gid: idOf('-g'), ...programsForAll(this.#programs) };
    mkdirSync(this.home, { mode: 0o700 });
    chownSync(this.home, this.account.uid, this.account.gid);
  }

  /** What the agent needs of root: a rule of sudo. */
  allow(): void {
    writeFileSync(this.#rules, `${this.agentName} ALL=(${this.tasksName}) NOPASSWD: /bin/sh\n`, { mode: 0o440 });
  }

  /** Takes it back. */
  forbid(): void {
    rmSync(this.#rules, { force: true });
  }

  /** Removes all that was made, and ends what still runs of it. */
  remove(): void {
    this.forbid();
    for (const name of this.#names) {
      spawnSync('pkill', ['-KILL', '-u', name]);
      spawnSync('userdel', ['--remove', '--force', name]);
    }
    rmSync(this.#programs, { recursive: true, force: true });
  }

  get #names(): readonly string[] {
    return [this.agentName, this.tasksName];
  }
}
