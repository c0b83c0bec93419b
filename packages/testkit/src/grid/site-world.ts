import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isAlive } from '../is-alive.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { taskGroup } from './broker-client.ts';
import { Grid } from './grid.ts';
import { SshServer } from './ssh-server.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** The executable that travels, as scripts/pack makes it. */
export const packedProgram: string = `${root}dist/mutirao`;

/** What a command printed, and its exit status. */
interface Said {
  readonly status: number;
  readonly out: string;
  readonly err: string;
}

/** What `site show --json` prints, as far as tests look at it. */
interface Shown {
  readonly status: string;
  readonly address: string;
  readonly provider_address: string;
  readonly provider_pid: number;
  readonly program_sha256: string;
  readonly outdated: boolean;
  readonly detail: string;
}

/** What a world needs of a test's `t`. */
interface WithTeardown {
  teardown(clean: () => void | Promise<void>): void;
}

/** A broker at home, a host behind sshd, and the command line. */
export class SiteWorld {
  readonly host: SshServer;
  readonly grid: Grid;
  /** What tasks write to, at the site. */
  readonly marks: string;

  constructor(host: SshServer, grid: Grid, marks: string) {
    this.host = host;
    this.grid = grid;
    this.marks = marks;
  }

  /**
   * Starts a broker and the sshd; both end with the test, and all that runs at the site. @param env of what runs there.
   */
  static async start(t: WithTeardown, env: Record<string, string> = {}): Promise<SiteWorld> {
    const host = new SshServer({ env: { PATH: '/usr/bin:/bin', ...env } });
    const grid = await Grid.start({});
    t.teardown(async () => {
      await Promise.all(
        readdirSync(grid.home).includes('sites')
          ? readdirSync(join(grid.home, 'sites')).map((name) => killKeeper(grid.home, name))
          : [],
      );
      await grid.stop();
      await killAllOf(host.home);
      await host.stop();
    });
    await host.start();
    return new SiteWorld(host, grid, temporaryFolder(t));
  }

  /** Runs `mutirao` at home. */
  run(...words: string[]): Promise<Said> {
    return new Promise((resolve) => {
      execFile(
        process.execPath,
        [`${root}packages/cli/bin/mutirao.js`, ...words],
        { env: { ...process.env, MUTIRAO_HOME: this.grid.home }, timeout: 60_000 },
        (error, out, err) => {
          resolve({ status: error === null ? 0 : Number(error.code ?? 99), out, err });
        },
      );
    });
  }

  /** Runs `mutirao site add`, with the sshd's names known. */
  add(name: string, ...words: string[]): Promise<Said> {
    return this.run('site', 'add', name, '--ssh-option', `-F${this.host.configPath}`, ...words);
  }

  /** A site as the command line shows it. */
  async shown(name = 'uni'): Promise<Shown> {
    return JSON.parse((await this.run('site', 'show', name, '--json')).out) as Shown;
  }

  /** The last status that the connector of a site reported. */
  state(name = 'uni'): { readonly status: string; readonly pid: number } {
    return getState(this.grid.home, name);
  }

  /** Ends a site's keeper as the command line does. */
  async stopConnector(name = 'uni'): Promise<void> {
    await killKeeper(this.grid.home, name);
  }

  /** Kills all that runs at the site, as its end would. */
  async killFrontEnd(): Promise<void> {
    await this.host.kill();
    await killAllOf(this.host.home);
  }

  /** Waits until the site is connected, and shows it. */
  async untilConnected(): Promise<Shown> {
    await until(async () => this.state().status === 'connected', 'the site is connected');
    return this.shown();
  }

  /** A bag each of whose tasks leaves a mark at the site as often as it runs. */
  submit(count: number): Promise<number> {
    return this.grid.client.submit([taskGroup(`echo x >>'${this.marks}'/{}; sleep 0.4; echo out-{}`, count)], {
      replicasMax: 1,
    });
  }

  /** Tasks that have begun. */
  markCount(): number {
    return readdirSync(this.marks).length;
  }

  /**
   * What is wrong with a bag of `submit` when it has ended: tasks that did not finish, or outputs that are not theirs.
   */
  async listFaults(jobId: number, count: number): Promise<string[]> {
    const { finishedCount } = await this.grid.client.waitEnded(jobId);
    const faults = finishedCount === count ? [] : [`${finishedCount} of ${count} tasks finished`];
    for (const index of [0, Math.floor(count / 2), count - 1]) {
      const output = await this.grid.client.output(jobId, index);
      if (output !== `out-${index}\n`) faults.push(`task ${index} printed ${JSON.stringify(output)}`);
    }
    return faults;
  }
}

function getState(home: string, name: string): { status: string; pid: number } {
  return JSON.parse(readFileSync(join(home, 'sites', name, 'state.json'), 'utf8')) as { status: string; pid: number };
}

async function killKeeper(home: string, name: string): Promise<void> {
  if (!existsSync(join(home, 'sites', name, 'state.json'))) return;
  const { pid } = getState(home, name);
  if (!isAlive(pid)) return;
  process.kill(pid, 'SIGTERM');
  await until(() => !isAlive(pid), 'the keeper is gone');
}

/** Kills every process that has this folder as its HOME: all that runs at the site. */
async function killAllOf(home: string): Promise<void> {
  const mark = Buffer.from(`\0HOME=${home}\0`);
  const mine = (): number[] =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter((pid) => {
        try {
          return Buffer.concat([Buffer.from('\0'), readFileSync(`/proc/${pid}/environ`)]).includes(mark);
        } catch {
          return false;
        }
      });
  await until(() => {
    const left = mine();
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has just ended by itself.
      }
    }
    return left.length === 0;
  }, 'nothing runs at the site');
}
