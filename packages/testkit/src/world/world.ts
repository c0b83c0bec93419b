import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MachineStatus } from '@mutirao/api/broker';
import { Root } from '@mutirao/api/common';
import { taskGroup, type BrokerClient } from '../grid/broker-client.ts';
import { until } from '../until.ts';
import { giveTo, type Account } from './accounts.ts';
import { listFaults } from './check-case.ts';
import type { WorldCase } from './world-case.ts';

/** Tasks of the job that runs together with all cases. */
const bystanders = 60;

/** All cases are submitted at once, and the last one waits for all others to be served. */
const allCasesMax = 480_000;

/** A grid that cases of this collection run on, by whatever kind of machine. */
export interface WorldPlace {
  readonly client: BrokerClient;
  /** The account that the broker runs as; left out for our own account. */
  readonly account?: Account;
}

/** Runs cases side by side on one grid, together with a job that no case may disturb. */
export class World {
  readonly #place: WorldPlace;
  /** Everything at home of the cases: inputs and results. */
  readonly #folder: string;
  /** In the environment of every task, so that what one left behind is found. */
  readonly #mark: string;
  #bystanderJob = 0;

  constructor(place: WorldPlace) {
    this.#place = place;
    this.#folder = mkdtempSync(join(tmpdir(), 'mutirao-world-'));
    this.#mark = `MUTIRAO_WORLD=${this.#folder}`;
    giveTo(this.#folder, place.account);
  }

  /** Submits the job that no case may disturb: short tasks, one replica each, none of which may fail or be lost. */
  async begin(): Promise<void> {
    this.#bystanderJob = await this.#place.client.submit(
      [taskGroup('echo own-{}; sleep 0.1; echo end-{}', bystanders)],
      { ...this.#common(), replicasMax: 1, failuresMax: 1 },
    );
  }

  /** Runs a case to its end and answers everything that was not as expected. */
  async run(aCase: WorldCase): Promise<string[]> {
    const { client, account } = this.#place;
    const folder = mkdtempSync(join(this.#folder, 'case-'));
    const results = join(folder, 'results');
    mkdirSync(results);
    for (const path of [folder, results]) giveTo(path, account);
    const jobId = await client.submit([this.#group(aCase, folder, results)], {
      environment: { ...aCase.environment, ...this.#common().environment },
      replicasMax: 1,
      homeDirectory: folder,
      limits: { runTimeMsMax: aCase.runTimeMax ?? 120_000, memoryBytesMax: aCase.memoryMax ?? 0, outputBytesMax: 0 },
    });
    await client.waitEnded(jobId, allCasesMax);
    return [...(await listFaults(client, jobId, aCase, results)), ...(await this.#machineFaults())];
  }

  /** Harm that the cases did to the other job, and processes that they left. */
  async faultsBeside(): Promise<string[]> {
    const { client } = this.#place;
    const expected = { status: 'finished', standardOutput: 'own-{}\nend-{}\n' } as const;
    await client.waitEnded(this.#bystanderJob, allCasesMax);
    const faults = await listFaults(client, this.#bystanderJob, { title: '', command: '', expected }, '');
    await until(() => this.#leftovers().length === 0, 'what tasks left behind is ended', 20_000).catch(() => undefined);
    return [...faults, ...this.#leftovers().map((line) => `still runs: ${line}`)];
  }

  /** Removes what was at home. */
  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #group(
    { command, count = 1, inputs = {}, outputs = [] }: WorldCase,
    folder: string,
    results: string,
  ): ReturnType<typeof taskGroup> {
    const files = Object.entries(inputs).map(([name, input], index) => {
      const file = join(folder, `input-${index}`);
      const { content, mode = 0o644 } = typeof input === 'string' ? { content: input } : input;
      writeFileSync(file, content, { mode });
      giveTo(file, this.#place.account);
      return {
        source: { source: { $case: 'localPath', value: file } },
        root: Root.PLAYPEN,
        path: name,
        condition: '',
      } as const;
    });
    return taskGroup(command, count, {
      inputs: files,
      outputs: outputs.map((path) => ({
        root: Root.PLAYPEN,
        path,
        localPath: join(results, '{#}', path),
        condition: '',
      })),
    });
  }

  #common(): { readonly environment: Record<string, string> } {
    const [name = '', value = ''] = this.#mark.split('=');
    return { environment: { [name]: value } };
  }

  async #machineFaults(): Promise<string[]> {
    const machines = await this.#place.client.machines();
    return machines
      .filter(({ status }) => status === MachineStatus.QUARANTINED)
      .map(({ facts }) => `${facts?.machineId ?? 'a machine'} is in quarantine`);
  }

  /** Processes that have the mark of our tasks. */
  #leftovers(): string[] {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(this.#mark)
            ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'latin1').slice(0, 100)}`]
            : [];
        } catch {
          return []; // It has ended.
        }
      });
  }
}
