import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Prng } from '@mutirao/core/shared';
import { callUnary } from '@mutirao/runtime/rpc';
import { BrokerClient } from '../grid/broker-client.ts';
import { ChaosGrid, liarId } from './chaos-grid.ts';
import { FaultPlan } from './fault-plan.ts';
import { findProcesses } from './find-processes.ts';
import { SmallDisk } from './small-disk.ts';
import { Storm } from './storm.ts';
import { tendJob } from './tend-job.ts';
import { judgeCrashes, judgeJournals, judgeLeftovers, judgeLedger, judgeLoad, type Finding } from './verdict.ts';
import {
  describeWay,
  lyingMark,
  planJobs,
  findSpec,
  writeInputs,
  type LoadFolders,
  type LoadJob,
  type SubmittedJob,
} from './workload.ts';

/** How long, how hard and with what load. */
export interface ChaosOptions {
  readonly seed: number;
  readonly stormMs: number;
  readonly everyMs: number;
  readonly tasks: number;
  /** Whether the folder stays although all was well. */
  readonly keep: boolean;
  /** Called with one line for each event. */
  say(line: string): void;
}

/** What came of it. */
export interface ChaosOutcome {
  readonly findings: readonly Finding[];
  /** Tasks whose accepted replica ended during the storm. */
  readonly finishedInStorm: number;
  /** Runs that tasks began, by their own marks. */
  readonly runCount: number;
  /** Those of them that brought something wrong, from the machine that lies. */
  readonly lieCount: number;
  /** How often each kind of fault came. */
  readonly faults: ReadonlyMap<string, number>;
  /** Where everything is; undefined when it was removed. */
  readonly folder: string | undefined;
}

/** What was wrong, a line each, and where to look; empty where all was well. */
export function describeFindings({ findings, folder }: ChaosOutcome): string[] {
  const wrong = findings.flatMap(({ what, wrong: lines }) => lines.map((line) => `not so: ${what}: ${line}`));
  return wrong.length === 0 ? [] : [...wrong, `everything is kept in ${folder ?? 'no folder'}`];
}

const clusters = [3, 2];
const machines = [3, 3];
/** Time without a finished task, after everything was mended, that means that it has come to a stand. */
const standstillMax = 90_000;
const submitPatience = 2000;
/** Agents that a fault cut off from their provider end what they run once they receive the order again. */
const idleMax = 60_000;

/**
 * Runs a grid under a load and a storm of faults, mends everything, waits for all jobs, and compares all that came of
 * it.
 */
export async function runChaos(options: ChaosOptions): Promise<ChaosOutcome> {
  const folder = mkdtempSync(join(tmpdir(), 'mutirao-chaos-'));
  const run = new ChaosRun(options, folder);
  const findings = await run.perform();
  const isWell = findings.every(({ wrong }) => wrong.length === 0);
  const isKept = options.keep || !isWell;
  run.release(isKept);
  if (!isKept) rmSync(folder, { recursive: true, force: true });
  return {
    findings,
    finishedInStorm: run.finishedInStorm,
    runCount: run.runCount,
    lieCount: run.lieCount,
    faults: run.faults,
    folder: isKept ? folder : undefined,
  };
}

class ChaosRun {
  finishedInStorm = 0;
  runCount = 0;
  lieCount = 0;
  faults: ReadonlyMap<string, number> = new Map();
  readonly #options: ChaosOptions;
  readonly #folder: string;
  readonly #folders: LoadFolders;
  #grid: ChaosGrid | undefined;
  #lastMark = 0;
  /** Jobs whose way has been gone to its end. */
  readonly #tended = new Set<number>();
  readonly #givenUp = new AbortController();

  constructor(options: ChaosOptions, folder: string) {
    this.#options = options;
    this.#folder = folder;
    this.#folders = { inputs: join(folder, 'inputs'), outputs: join(folder, 'outputs'), runs: join(folder, 'runs') };
  }

  async perform(): Promise<Finding[]> {
    const { seed, stormMs, everyMs, say } = this.#options;
    mkdirSync(this.#folder, { recursive: true });
    const hasDisks = SmallDisk.isPossible(join(this.#folder, 'try'));
    if (!hasDisks) say('No file system can be mounted here (that takes root): disks are not filled in this run.');
    const grid = await ChaosGrid.start({
      folder: this.#folder,
      clusters,
      machines,
      hasDisks,
      log: (line) => {
        this.#note(line);
      },
    });
    this.#grid = grid;
    writeInputs(this.#folders);
    const client = new BrokerClient(grid.brokerAddress, grid.home);
    try {
      await client.waitMachines(machines.length);
      const storm = new Storm({
        grid,
        plan: new FaultPlan(new Prng(`chaos ${seed}`), { hasDisks }),
        everyMs,
        logFile: join(this.#folder, 'faults.jsonl'),
      });
      this.faults = storm.counts;
      const stormEnd = Date.now() + stormMs;
      storm.begin();
      const submitting = this.#submitAll(client, stormEnd);
      await this.#watch(client, stormEnd);
      await storm.end();
      say('The storm is over: everything is mended, and all jobs have to end.');
      const jobs = await submitting;
      const ended = await this.#waitEnded(client, jobs);
      const load = await judgeLoad(client, jobs, this.#folders);
      this.finishedInStorm = load.acceptedAt.filter((at) => at <= stormEnd).length;
      const idle = await this.#waitIdle(grid);
      this.runCount = this.#countMarks();
      this.lieCount = this.#countMarks(` ${lyingMark}\n`);
      const ledger = await judgeLedger(client);
      return [storm.judge(), ended, ...load.findings, idle, ledger, ...(await this.#stop(grid))];
    } finally {
      this.#givenUp.abort();
      client.close();
    }
  }

  /** Takes the disks away. */
  release(keep: boolean): void {
    this.#grid?.unmount(keep);
  }

  /** Jobs come as long as the storm lasts, so that there is always something to do. */
  async #submitAll(client: BrokerClient, stormEnd: number): Promise<SubmittedJob[]> {
    const start = Date.now();
    const planned = planJobs(this.#options.tasks, Math.max(50, Math.ceil(this.#options.tasks / 60)));
    const submitted: SubmittedJob[] = [];
    for (const [index, job] of planned.entries()) {
      // The first tenth at once, the last job when a tenth of the time is left.
      const at = start + Math.max(0, index / planned.length - 0.1) * (stormEnd - start);
      await sleep(Math.max(0, at - Date.now()));
      const here = { ...job, jobId: await this.#submit(client, job) };
      submitted.push(here);
      void this.#tend(client, here);
    }
    return submitted;
  }

  async #tend(client: BrokerClient, job: SubmittedJob): Promise<void> {
    try {
      await tendJob(
        {
          client,
          folders: this.#folders,
          signal: this.#givenUp.signal,
          note: (line) => {
            this.#note(line);
          },
        },
        job,
      );
      this.#tended.add(job.jobId);
    } catch (error) {
      this.#note(`${job.label} is no longer tended: ${String(error)}`);
    }
  }

  /** The machine that lies is caught sooner or later; reset it lies again. */
  async #resetTrust(client: BrokerClient): Promise<void> {
    await callUnary(client.raw, 'resetMachineTrust', { machineId: liarId }, { deadlineMs: submitPatience }).catch(
      (error: unknown) => {
        this.#note(`${liarId} is not reset: ${String(error)}`);
      },
    );
  }

  /** Again and again under the same name, as a client does that got no answer. */
  async #submit(client: BrokerClient, job: LoadJob): Promise<number> {
    const spec = findSpec(job, this.#folders);
    for (;;) {
      try {
        return (
          await callUnary(
            client.raw,
            'submitJob',
            { job: spec, clientJobId: job.label },
            { deadlineMs: submitPatience },
          )
        ).jobId;
      } catch (error) {
        this.#note(`${job.label} was not taken: ${String(error)}`);
        await sleep(200);
      }
    }
  }

  async #watch(client: BrokerClient, stormEnd: number): Promise<void> {
    const start = Date.now();
    while (Date.now() < stormEnd) {
      await sleep(Math.min(10_000, stormEnd - Date.now()));
      const done = this.#countMarks();
      this.#options.say(
        `${Math.round((Date.now() - start) / 1000)} s: ${done} runs begun (${done - this.#lastMark} lately)`,
      );
      this.#lastMark = done;
      await this.#resetTrust(client);
    }
  }

  async #waitEnded(client: BrokerClient, jobs: readonly SubmittedJob[]): Promise<Finding> {
    const wrong: string[] = [];
    for (const { jobId, label, way } of jobs) {
      let [reported, since] = ['', Date.now()];
      for (;;) {
        const job = await client.job(jobId).catch(() => undefined);
        if (job !== undefined && job.endedUnixMs > 0 && this.#tended.has(jobId)) break;
        const now =
          job === undefined
            ? reported
            : `${job.finishedCount} tasks finished, ${job.failedCount} failed, ${job.cancelledCount} cancelled`;
        if (now !== reported) [reported, since] = [now, Date.now()];
        if (Date.now() - since > standstillMax) {
          const why = await client.explain({ $case: 'jobId', value: jobId }).catch((error: unknown) => String(error));
          return {
            what: 'all jobs end',
            wrong: [...wrong, `${label} (job ${jobId}, ${describeWay(way)}) stands still with ${reported}: ${why}`],
          };
        }
        await sleep(100);
      }
    }
    return { what: 'all jobs end', wrong };
  }

  /** What was cancelled, and what lost against a sibling, is ended too. */
  async #waitIdle(grid: ChaosGrid): Promise<Finding> {
    const tasks = (): string[] =>
      findProcesses(grid.home)
        .filter(({ role }) => role === 'task')
        .map(({ pid, command }) => `${pid}: ${command}`);
    const end = Date.now() + idleMax;
    while (tasks().length > 0 && Date.now() < end) await sleep(100);
    return { what: 'nothing runs when all jobs are over', wrong: tasks() };
  }

  /** Ends the grid and looks for what is left of it. */
  async #stop(grid: ChaosGrid): Promise<Finding[]> {
    const killed = await grid.stop();
    const end = Date.now() + 10_000;
    while (findProcesses(grid.home).length > 0 && Date.now() < end) await sleep(100);
    const left = findProcesses(grid.home);
    for (const { pid } of left) process.kill(pid, 'SIGKILL');
    return [
      { what: 'every process ends when it is asked to', wrong: killed },
      { what: 'no process is left', wrong: left.map(({ pid, role, command }) => `${role} ${pid}: ${command}`) },
      judgeCrashes(
        grid.home,
        grid.programs.flatMap(({ ownEnds }) => ownEnds),
      ),
      judgeJournals(grid.home),
      judgeLeftovers(grid.home, grid.outputs),
    ];
  }

  /** Runs that were begun, or only those whose mark ends so. */
  #countMarks(ending = '\n'): number {
    try {
      return readFileSync(join(this.#folders.runs, 'started'), 'latin1').split(ending).length - 1;
    } catch {
      return 0;
    }
  }

  #note(line: string): void {
    appendFileSync(join(this.#folder, 'notes.log'), `${new Date().toISOString()} ${line}\n`);
  }
}
