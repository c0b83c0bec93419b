import { GridMachineProviderServiceClient } from '@mutirao/api/provider';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary, dial } from '@mutirao/runtime/rpc';
import { until } from '../until.ts';
import { Grid } from './grid.ts';
import type { ProgramAccount } from './program.ts';
import type { SlurmServer } from './slurm-server.ts';

/** The queue is read often, and what is idle is given back soon. */
const often = ['--manager', 'slurm', '--queue-interval', '500ms', '--idle-release', '500ms'] as const;

/** A broker and a provider over a Slurm under test, which reads the queue often and gives back soon. */
export class SlurmGrid {
  readonly grid: Grid;
  readonly slurm: SlurmServer;

  private constructor(grid: Grid, slurm: SlurmServer) {
    this.grid = grid;
    this.slurm = slurm;
  }

  /** @param args further ones of the provider, which is called `site`. */
  static async start(slurm: SlurmServer, ...args: readonly string[]): Promise<SlurmGrid> {
    return new SlurmGrid(
      await Grid.start({ resources: [{ id: 'site', args: [...often, ...args] }], env: slurm.environment }),
      slurm,
    );
  }

  /** The same as another account, which has to have an entry in the password file: Slurm runs nothing for others. */
  static async startAs(account: ProgramAccount, slurm: SlurmServer, ...args: readonly string[]): Promise<SlurmGrid> {
    slurm.openToAll();
    return new SlurmGrid(
      await Grid.start({
        resources: [{ id: 'site', args: [...often, ...args] }],
        env: { ...slurm.environment, HOME: '/nonexistent' },
        account,
      }),
      slurm,
    );
  }

  /** Ends the processes, and all jobs of the Slurm before the home folder, in which their agents write. */
  async stop(): Promise<void> {
    await this.grid.providers[0]?.kill();
    await this.slurm.startController();
    await this.slurm.cancelAll();
    await this.grid.stop();
  }

  /** Why the provider asks for nothing, or what it asked for last, and how many requests it has made. */
  async resourceStatus(): Promise<{ readonly why: string; readonly requestCount: number }> {
    const client = dial(GridMachineProviderServiceClient, this.grid.providers[0]?.address ?? '', {
      token: readToken(tokenPath(this.grid.home)),
    });
    const { reasons } = await callUnary(client, 'getResource', {}, { deadlineMs: 60_000 });
    const { requests } = await callUnary(client, 'listRequests', {}, { deadlineMs: 60_000 });
    client.close();
    return { why: reasons.map(({ text }) => text).join(' '), requestCount: requests.length };
  }

  /** Waits until that is why the provider asks for nothing. */
  async untilStatus(words: RegExp): Promise<void> {
    let last = '';
    const says = async (): Promise<boolean> => {
      last = (await this.resourceStatus()).why;
      return words.test(last);
    };
    await until(says, `the provider says ${words}`).catch((error: unknown) => {
      throw new Error(last, { cause: error });
    });
  }

  /** Waits until the explanation of a request says this. */
  async untilExplained(requestId: string, words: RegExp): Promise<void> {
    let last = '';
    const says = async (): Promise<boolean> => {
      last = await this.grid.client.explain({ $case: 'request', value: `site/${requestId}` }).catch(String);
      return words.test(last);
    };
    await until(says, `request ${requestId} is explained by ${words}`).catch((error: unknown) => {
      throw new Error(last, { cause: error });
    });
  }
}
