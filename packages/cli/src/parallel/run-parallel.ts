import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { removeTree } from '@mutirao/runtime/files';

import type { TaskRecord } from '@mutirao/api/broker';
import { parseCommand, renderCommand } from '@mutirao/core/bag';
import { jobDefaults, makeTaskGroup } from '@mutirao/formats';
import {
  isHalted,
  jobLogHeader,
  makeJobGroups,
  readJobLog,
  type HaltRule,
  type JobGroup,
  type ParallelJob,
} from '@mutirao/formats/parallel';

import type { CommandContext } from '../context.ts';
import { handOver } from '../commands/job/hand-over.ts';
import { reportingReplica } from '../commands/task/list.ts';
import { closeHereHome, openHereHome } from '../grid/here-home.ts';
import { noManager } from '../grid/plan.ts';
import { runHere } from '../grid/run-here.ts';
import { parseSettings } from '../grid/settings.ts';
import { showDuration } from '../output/units.ts';
import { wrapCommand } from './command-line.ts';
import { listEndedTasks } from './ended-tasks.ts';
import { exitOfReplica } from './exit-of-task.ts';
import { JobPrinter, type EndedJob } from './job-printer.ts';
import { badRequest, readCount, readHalt, readSlots, readTimeout, type ParallelOptions } from './parallel-options.ts';
import { readJobs } from './read-jobs.ts';

/** Most failed jobs that the exit status counts. */
const countedMax = 100;

/** Runs the jobs of a command line on this host. @returns GNU parallel's exit status. */
export async function runParallel(
  context: CommandContext,
  words: readonly string[],
  options: ParallelOptions,
): Promise<number> {
  const { command, jobs: all } = readJobs(words, options, context.directory);
  const jobs = leaveOut(all, options, context.directory);
  const groups = makeJobGroups(command, jobs);
  const limits = {
    slots: readSlots(options.jobs, jobs.length),
    runTimeMax: readTimeout(options.timeout),
    failuresMax: readCount('--retries', options.retries, 1) ?? 1,
    halt: readHalt(options.halt),
  };
  if (options.dryRun === true) {
    for (const group of groups)
      for (const line of listCommands(group)) context.output.writePrinted(Buffer.from(`${line}\n`), 'output');
    return 0;
  }
  const jobLog = openJobLog(options, context.directory);
  if (jobs.length === 0) return 0;
  const folder = mkdtempSync(join(tmpdir(), 'mutirao-parallel-'));
  try {
    const printer = new JobPrinter({
      output: context.output,
      keepsOrder: options.keepOrder === true,
      tags: options.tag === true,
      showsCommand: options.verbose === true,
      resultsFolder:
        options.results === undefined ? undefined : openResults(resolve(context.directory, options.results)),
      jobLog,
      names: command.names,
      order: jobs.map(({ sequence }) => sequence),
    });
    const showsProgress = options.bar === true || options.eta === true || options.progress === true;
    return await runGroups(context, groups, { ...limits, folder, printer, showsProgress });
  } finally {
    removeTree(folder);
  }
}

function openResults(folder: string): string {
  if (/\.(csv|tsv|json)$/.test(folder))
    throw badRequest(`--results ${folder} is a file; expected a folder. "mutirao job export" writes CSV and JSON`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

function listCommands({ command, values }: JobGroup): string[] {
  const template = parseCommand(command);
  return values.map((value) => renderCommand(template, value, 0));
}

/** Leaves out what a joblog says has run. */
function leaveOut(
  jobs: readonly ParallelJob[],
  { joblog, resume, resumeFailed }: ParallelOptions,
  directory: string,
): readonly ParallelJob[] {
  if (resume !== true && resumeFailed !== true) return jobs;
  if (joblog === undefined)
    throw badRequest(`${resume === true ? '--resume' : '--resume-failed'} is given without --joblog; expected both`);
  const path = resolve(directory, joblog);
  const before = existsSync(path) ? readJobLog(readFileSync(path, 'utf8')) : new Map<number, never>();
  return jobs.filter(({ sequence }) => {
    const entry = before.get(sequence);
    return entry === undefined || (resumeFailed === true && entry.hasFailed);
  });
}

/** Begins the log, or goes on with it. @returns its path. */
function openJobLog({ joblog, resume, resumeFailed }: ParallelOptions, directory: string): string | undefined {
  if (joblog === undefined) return undefined;
  const path = resolve(directory, joblog.replace(/^\+/, ''));
  const goesOn = joblog.startsWith('+') || resume === true || resumeFailed === true;
  if (!goesOn || !existsSync(path)) writeFileSync(path, `${jobLogHeader}\n`);
  else if (!readFileSync(path, 'utf8').endsWith('\n')) appendFileSync(path, '\n');
  return path;
}

interface Run {
  readonly slots: number;
  readonly runTimeMax: number;
  readonly failuresMax: number;
  readonly halt: HaltRule | undefined;
  readonly folder: string;
  readonly printer: JobPrinter;
  readonly showsProgress: boolean;
}

async function runGroups(context: CommandContext, groups: readonly JobGroup[], run: Run): Promise<number> {
  const home = openHereHome(undefined, context.home);
  const inner = context.at(home.path);
  let status = 0;
  try {
    await runHere(inner, { manager: noManager, processors: run.slots, settings: parseSettings([]) }, async () => {
      status = await submitAndFollow(inner, groups, run);
    });
    return status;
  } finally {
    run.printer.close();
    await closeHereHome(home, {
      output: context.output,
      sleep: (delay) => context.sleep(delay).catch(() => undefined),
    });
  }
}

async function submitAndFollow(context: CommandContext, groups: readonly JobGroup[], run: Run): Promise<number> {
  const { jobId } = await handOver(context, {
    ...jobDefaults,
    label: 'parallel',
    groups: groups.map(({ command, values }) =>
      makeTaskGroup({
        command: wrapCommand(command, { folder: run.folder, slots: run.slots, environment: process.env }),
        values: { kind: 'list', values },
      }),
    ),
    limits: { ...jobDefaults.limits, runTimeMax: run.runTimeMax },
    replicasMax: 1,
    failuresMax: run.failuresMax,
    homeDirectory: context.directory,
    workFolder: context.directory,
  });
  const broker = await context.broker();
  const jobs = groups.flatMap(({ jobs: some }) => some);
  const lines = groups.flatMap(listCommands);
  const tally = new Tally(context, run, jobs.length);
  for await (const tasks of listEndedTasks(broker, jobId, context.signal)) {
    for (const task of tasks) {
      const job = jobs[task.taskIndex];
      if (job === undefined) continue;
      const ended = describeEnd(task, { job, command: lines[task.taskIndex] ?? '', folder: run.folder });
      run.printer.take(ended);
      if (tally.count(ended)) {
        if (run.halt?.when === 'now') {
          await broker.cancelJob({ jobId, reason: '--halt' });
          return tally.status;
        }
        writeFileSync(join(run.folder, 'stop'), '');
      }
    }
    tally.show();
  }
  return tally.status;
}

/** Counts jobs that have ended, and says when it is time to end. */
class Tally {
  readonly #context: CommandContext;
  readonly #run: Run;
  readonly #total: number;
  readonly #startedAt: number;
  #failed = 0;
  #succeeded = 0;
  #haltStatus: number | undefined;

  constructor(context: CommandContext, run: Run, total: number) {
    [this.#context, this.#run, this.#total] = [context, run, total];
    this.#startedAt = context.clock.now();
  }

  /** @returns whether the rule to end early holds for the first time. */
  count({ entry: { exitStatus, signal }, files }: EndedJob): boolean {
    if (files === undefined) return false;
    const hasFailed = exitStatus !== 0 || signal !== 0;
    if (hasFailed) this.#failed += 1;
    else this.#succeeded += 1;
    const { halt } = this.#run;
    const counts = { failed: this.#failed, succeeded: this.#succeeded, total: this.#total };
    if (halt === undefined || this.#haltStatus !== undefined || !isHalted(halt, counts)) return false;
    // As GNU parallel does, the status of the job that made it end is that of the command.
    this.#haltStatus = halt.what === 'success' ? 0 : hasFailed ? (signal === 0 ? exitStatus & 255 : 128 + signal) : 0;
    return true;
  }

  get status(): number {
    return this.#haltStatus ?? Math.min(this.#failed, countedMax + 1);
  }

  show(): void {
    const { output, clock } = this.#context;
    if (!this.#run.showsProgress) return;
    const ended = this.#failed + this.#succeeded;
    const left = ended === 0 ? 0 : ((clock.now() - this.#startedAt) / ended) * (this.#total - ended);
    const percent = Math.floor((100 * ended) / this.#total);
    const line = `${percent}% ${ended}/${this.#total} jobs, ${this.#failed} failed, about ${showDuration(left)} left`;
    if (output.progress === undefined) output.note(line);
    else output.progress(`\r\u001b[2K${line}${ended === this.#total ? '\n' : ''}`);
  }
}

function describeEnd(
  task: TaskRecord,
  { job, command, folder }: { readonly job: ParallelJob; readonly command: string; readonly folder: string },
): EndedJob {
  const replica = reportingReplica(task);
  const [stdout, stderr] = ['out', 'err'].map((name) => join(folder, `${task.taskIndex}.${name}`));
  const hasRun = stdout !== undefined && stderr !== undefined && existsSync(stdout) && existsSync(stderr);
  const { startedUnixMs = 0, endedUnixMs = 0 } = replica ?? {};
  return {
    job,
    files: hasRun ? { stdout, stderr } : undefined,
    entry: {
      sequence: job.sequence,
      host: ':',
      startedAt: startedUnixMs,
      runTime: Math.max(0, endedUnixMs - startedUnixMs),
      sent: 0,
      received: hasRun ? readFileSync(stdout).length + readFileSync(stderr).length : 0,
      ...exitOfReplica(replica),
      command,
    },
  };
}
