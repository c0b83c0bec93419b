import { MutiraoError } from '@mutirao/api/errors';
import type { QueuedRequest, QueueListing, ResourceLimits } from '@mutirao/core/messages';
import type { NodeShape } from '@mutirao/core/resources';
import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';
import type { AllocationOrder, ResourceManager } from '../resource-manager.ts';
import { listWords } from '../run-tool.ts';
import type { GpuSpellings } from '../gpu-spellings.ts';
import { slotFlags } from './slot-flags.ts';
import { findMinutes, renderBatchScript, type AgentPlaces } from './batch-script.ts';
import { CancelQueue } from '../cancel-queue.ts';
import { JobFiles } from '../job-files.ts';
import { requireKey, TriedKeys } from '../tried-keys.ts';
import {
  nodeFormat,
  parseControllerClock,
  parseIdleProcessors,
  parseNodeLimits,
  parsePartitions,
  processorsFormat,
  type Partition,
} from './parse-limits.ts';
import {
  isHopeless,
  isTooWide,
  jobFormat,
  ownJobFormat,
  parseJobs,
  parseOwnJobs,
  type JobListing,
  type SlurmJob,
} from './parse-queue.ts';
import { cancelFailures, submitError } from './parse-refusal.ts';
import { isOperator, isSlurmUser } from './parse-rights.ts';
import { findPartition, readUserFlags, type UserFlags } from './user-flags.ts';
import { WidthMemory } from '../width-memory.ts';
import { SlurmCommands } from './slurm-commands.ts';
import { SlurmReservations } from './slurm-reservations.ts';

/** How to use a Slurm. */
export interface SlurmOptions {
  /** Whose jobs are ours: the user that this process runs as. */
  readonly user: string;
  /** Empty for Slurm's default. */
  readonly partition: string;
  /** Flags passed to each `sbatch` before ours. */
  readonly flags: readonly string[];
  /** Requests that may be queued or running at a time; Slurm's own limits are met as refusals. */
  readonly requestsMax: number;
  /** Longest walltime to ask for; 0 for the partition's. */
  readonly walltimeMax: Duration;
  /** Most processors of one request; the partition's when 0 or left out. */
  readonly widthMax?: ProcessorCount;
  /** Where jobs write, on a disk that the nodes share with us; empty to keep nothing. */
  readonly logFolder: string;
  /**
   * What comes before our number in the names of Slurm's reservations, and what the resource is called at its
   * reservation manager; left out where none are made.
   */
  readonly reservations?: { readonly prefix: string; readonly resourceId: string };
  /** Left out, one for each node. */
  readonly agents?: AgentPlaces;
  /** Of each call of one of Slurm's commands. */
  readonly deadlineMs: Duration;
  /** With PATH, and SLURM_CONF where it is not in its usual place. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch. */
  now(): Instant;
}

const minute: Duration = 60_000;
/** How long a job whose end Slurm has not named yet counts as running. */
const completingMax: Duration = minute;
/** What is asked for at most where a partition has no limit. */
const walltimeMaxUnlimited: Duration = 7 * 24 * 60 * minute;

/**
 * Slurm as a resource manager, through its commands. One job for each request, which runs the order's command once per
 * task.
 */
export class SlurmManager implements ResourceManager {
  readonly #options: SlurmOptions;
  readonly #slurm: SlurmCommands;
  readonly #cancels: CancelQueue;
  readonly #files: JobFiles | undefined;
  readonly #keysTried = new TriedKeys();
  readonly #user: UserFlags;
  /** The partition that is asked for by name; empty for Slurm's default. */
  readonly #wanted: string;
  readonly #widths = new WidthMemory();
  readonly siteReservations?: SlurmReservations;
  readonly reservationResource?: string;
  #partition = '';
  /** What the partition had when its limits were read. */
  #nodes: readonly NodeShape[] = [];
  #gpuSpellings: GpuSpellings = new Map();
  /** Names of our jobs that waited or ran at the last listing; undefined before one. */
  #alive: ReadonlySet<string> | undefined;
  /** The controller's clock less ours. */
  #clockOffset: Duration = 0;

  /** @throws {MutiraoError} MUT_BAD_CONFIG for flags that would be of no effect or in the way. */
  constructor(options: SlurmOptions) {
    this.#options = options;
    this.#user = readUserFlags(options.flags, options.partition);
    this.#wanted = this.#user.partition ?? findPartition(options.environment) ?? '';
    this.#slurm = new SlurmCommands(options);
    this.#cancels = new CancelQueue((ids) => this.#cancel(ids));
    this.#files = options.logFolder === '' ? undefined : new JobFiles(options.logFolder);
    const { reservations, user, now } = options;
    if (reservations === undefined) return;
    this.reservationResource = reservations.resourceId;
    this.siteReservations = new SlurmReservations({
      slurm: this.#slurm,
      prefix: reservations.prefix,
      user,
      partition: () => this.#partitionName(),
      now,
    });
  }

  get hasNewLimits(): boolean {
    return this.#widths.hasChanged;
  }

  async allocate(order: AllocationOrder): Promise<string> {
    const { clientRequestId: key } = order;
    requireKey(key);
    const known = this.#keysTried.has(key) ? await this.#findJob(key) : undefined;
    if (known !== undefined) return known;
    this.#keysTried.remember(key);
    if (this.#alive !== undefined) this.#files?.prune(this.#alive);
    const { status, stdout, stderr } = await this.#slurm.run(
      'sbatch',
      this.#submitFlags(order),
      renderBatchScript(order, this.#options.agents),
    );
    if (status !== 0) throw this.#getRefusal(stderr, order);
    const [, id] = /^(\d+)(?:;.*)?$/m.exec(stdout) ?? [];
    if (id === undefined)
      throw new MutiraoError('MUT_UNREACHABLE', `sbatch did not print a job number: ${listWords(stdout)}`);
    return id;
  }

  async release(managerRequestId: string): Promise<void> {
    if (/^\d{1,15}$/.test(managerRequestId)) await this.#cancels.cancel(managerRequestId);
  }

  async limits(): Promise<ResourceLimits> {
    const partition = await this.#readPartition();
    const [nodeLines, config] = await Promise.all([
      this.#slurm.read('sinfo', ['--noheader', '--Node', `--partition=${partition.name}`, `--format=${nodeFormat}`]),
      this.#slurm.read('scontrol', ['show', 'config']),
    ]);
    const nodes = parseNodeLimits(nodeLines, partition);
    if (nodes === undefined)
      throw new MutiraoError('MUT_UNREACHABLE', `sinfo did not print processors: ${listWords(nodeLines)}`);
    const clock = parseControllerClock(config);
    if (clock !== 0) this.#clockOffset = clock - this.#options.now();
    const { processors, nodeMin } = nodes;
    this.#nodes = nodes.nodes;
    this.#gpuSpellings = nodes.gpuSpellings;
    const widthMax = this.#widths.bound(
      Math.min(nodes.widthMax, this.#options.widthMax || Infinity),
      this.#options.now(),
    );
    const wholeNodes = partition.isExclusive || this.#asksForWholeNodes() ? { widthGranularity: nodeMin } : {};
    return {
      processors,
      widthMax,
      ...wholeNodes,
      requestsMax: this.#options.requestsMax,
      walltimeMax: this.#walltimeMax(partition),
      walltimeGranularity: minute,
      nodes: nodes.nodes,
      ...(partition.nodesMax === undefined ? {} : { nodesMax: partition.nodesMax }),
    };
  }

  async queue(endedMax: number): Promise<QueueListing> {
    const at = this.#options.now() + this.#clockOffset;
    const partition = await this.#partitionName();
    const everybody = [
      '--all',
      '--noheader',
      '--array',
      `--partition=${partition}`,
      '--states=PENDING,CONFIGURING,RUNNING,SUSPENDED',
      `--format=${jobFormat}`,
    ];
    const own = [
      '--all',
      '--noheader',
      '--array',
      `--user=${this.#options.user}`,
      '--states=all',
      `--format=${ownJobFormat}`,
    ];
    // Ours last: a request that starts or ends in between is reported in its later state.
    const jobs = getJobs(parseJobs(await this.#slurm.read('squeue', everybody)));
    const [idleLines, ownLines] = await Promise.all([
      this.#slurm.read('sinfo', ['--noheader', `--partition=${partition}`, `--format=${processorsFormat}`]),
      this.#slurm.read('squeue', own),
    ]);
    const processorsFree = parseIdleProcessors(idleLines);
    if (processorsFree === undefined)
      throw new MutiraoError('MUT_UNREACHABLE', `sinfo did not print processors: ${listWords(idleLines)}`);
    return {
      at,
      processorsFree,
      requests: this.#merge(
        jobs,
        getJobs(parseOwnJobs(ownLines)).filter((job) => isOfQueue(job, partition)),
        endedMax,
      ),
    };
  }

  /** Slurm lets its own user, root, and users that its accounting calls operators make reservations. */
  async mayReserve(): Promise<boolean | undefined> {
    const { user } = this.#options;
    try {
      if (isSlurmUser(await this.#slurm.read('scontrol', ['show', 'config']), user)) return true;
      const { status, stdout } = await this.#slurm.run('sacctmgr', [
        '--noheader',
        '--parsable2',
        'show',
        'user',
        `name=${user}`,
        'format=user,adminlevel',
      ]);
      // Without an accounting database nobody else may.
      return status === 0 && isOperator(stdout, user);
    } catch {
      return undefined;
    }
  }

  watch(): void {
    // Slurm gives no hints to users.
  }

  close(): void {
    this.#slurm.close();
  }

  /** By a flag of the user's, or in her environment. */
  #asksForWholeNodes(): boolean {
    return this.#user.names.has('exclusive') || this.#options.environment['SBATCH_EXCLUSIVE'] !== undefined;
  }

  async #partitionName(): Promise<string> {
    return this.#partition === '' ? (await this.#readPartition()).name : this.#partition;
  }

  async #readPartition(): Promise<Partition> {
    const wanted = this.#wanted;
    const { status, stdout, stderr } = await this.#slurm.run('scontrol', [
      '--all',
      '--oneliner',
      'show',
      'partition',
      ...(wanted === '' ? [] : [wanted]),
    ]);
    const isKnown = !/partition .* not found/i.test(stdout + stderr);
    if (status !== 0 && isKnown)
      throw new MutiraoError('MUT_UNREACHABLE', `scontrol ended with status ${status}: ${listWords(stdout + stderr)}`);
    const partition = parsePartitions(stdout).find(({ name, isDefault }) =>
      wanted === '' ? isDefault : name === wanted,
    );
    if (partition === undefined) {
      const trouble = wanted === '' ? 'shows no default partition; name one' : `shows no partition "${wanted}"`;
      throw new MutiraoError(
        isKnown ? 'MUT_UNREACHABLE' : 'MUT_BAD_REQUEST',
        `scontrol ${trouble}: ${listWords(stdout + stderr)}`,
      );
    }
    this.#partition = partition.name;
    return partition;
  }

  #walltimeMax({ walltimeMax }: Partition): Duration {
    const allowed = walltimeMax ?? walltimeMaxUnlimited;
    const wanted = this.#options.walltimeMax === 0 ? allowed : Math.min(allowed, this.#options.walltimeMax);
    return Math.floor(wanted / minute) * minute;
  }

  #submitFlags(order: AllocationOrder): string[] {
    const { clientRequestId: key, width, slot, workingDirectory } = order;
    const { flags, names } = this.#user;
    const unlessGiven = (name: string, flag: string, ...others: readonly string[]): string[] =>
      [name, ...others].some((one) => names.has(one)) ? [] : [flag];
    return [
      '--parsable',
      ...flags,
      ...(this.#wanted === '' ? [] : [`--partition=${this.#wanted}`]),
      `--job-name=${key}`,
      ...unlessGiven('comment', `--comment=${key}`),
      ...slotFlags(width, slot, { nodes: this.#nodes, gpuSpellings: this.#gpuSpellings, given: names }),
      `--time=${findMinutes(order)}`,
      ...this.#reservationFlags(order),
      ...unlessGiven('export', '--export=ALL', 'export-file'),
      ...unlessGiven('requeue', '--no-requeue'),
      `--output=${this.#files === undefined ? '/dev/null' : escapePath(this.#files.logPath(key))}`,
      `--chdir=${workingDirectory === '' ? '/tmp' : workingDirectory}`,
    ];
  }

  /** Where a job of the whole reservation starts a moment late, Slurm may cut its walltime, so that it ends in time. */
  #reservationFlags({ reservation }: AllocationOrder): string[] {
    if (reservation === undefined || this.siteReservations === undefined) return [];
    return [`--reservation=${this.siteReservations.nameOf(reservation.reservationId)}`, '--time-min=1'];
  }

  /** A width that Slurm refuses as such is not asked for again and again: half of it is the most from then on. */
  #getRefusal(stderr: string, { width }: AllocationOrder): MutiraoError {
    const error = submitError(stderr);
    if (error.code === 'MUT_WIDTH_MAX') this.#widths.refuse(width, this.#options.now());
    return error;
  }

  /** The job of an order whose answer was unclear, if Slurm has it. */
  async #findJob(key: string): Promise<string | undefined> {
    const output = await this.#slurm.read('squeue', [
      '--all',
      '--noheader',
      `--user=${this.#options.user}`,
      `--name=${key}`,
      '--states=all',
      `--format=${ownJobFormat}`,
    ]);
    return getJobs(parseOwnJobs(output)).find(({ request }) => request.clientRequestId === key)?.id;
  }

  async #cancel(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { status, stderr } = await this.#slurm.run('scancel', ids);
    return status === 0 ? new Map() : cancelFailures(stderr, ids);
  }

  #merge(everybody: readonly SlurmJob[], own: readonly SlurmJob[], endedMax: number): QueuedRequest[] {
    const ownJobs = this.#withoutTwins(own.map((job) => this.#awaitOutcome(this.#giveUpHopeless(job))));
    const ownIds = new Set(own.map(({ id }) => id));
    this.#alive = new Set(
      own.filter(({ request }) => request.status !== 'ended').map(({ request }) => request.clientRequestId),
    );
    const alive = [
      ...everybody.filter(({ id }) => !ownIds.has(id)),
      ...ownJobs.filter(({ request }) => request.status !== 'ended'),
    ].map(({ request }) => request);
    const ended = ownJobs
      .filter(({ request }) => request.status === 'ended')
      .sort((one, other) => other.request.endedAt - one.request.endedAt);
    return [
      ...alive.sort((one, other) => one.submittedAt - other.submittedAt),
      ...ended.slice(0, endedMax).map((job) => this.#withLastWords(job)),
    ];
  }

  /** All but the first of the jobs of one order are cancelled. */
  #withoutTwins(jobs: readonly SlurmJob[]): SlurmJob[] {
    const { kept, twins } = this.#keysTried.withoutTwins(jobs);
    for (const { id } of twins) this.#cancels.cancel(id).catch(() => undefined); // The next listing shows it again.
    return kept;
  }

  /**
   * Whether a job was preempted is only known once it has completed: until then it counts as running, for at most
   * `completingMax`, since a node that cannot be cleaned up keeps its jobs completing.
   */
  #awaitOutcome(job: SlurmJob): SlurmJob {
    const { request, isCompleting } = job;
    const completingFor = this.#options.now() + this.#clockOffset - request.endedAt;
    if (!isCompleting || completingFor >= completingMax) return job;
    return { ...job, request: { ...request, status: 'running', endedAt: 0 } };
  }

  /**
   * A request that can never start would hold its slot for ever: it is reported as ended, and cancelled where this process
   * asked for it.
   * Should the limits change, one that is left over is listed again, and released.
   */
  #giveUpHopeless(job: SlurmJob): SlurmJob {
    if (!isHopeless(job)) return job;
    const { request, id, reason } = job;
    const isAskedForHere = this.#keysTried.has(request.clientRequestId);
    if (isAskedForHere && isTooWide(job)) this.#widths.refuse(request.width, this.#options.now());
    if (isAskedForHere) this.#cancels.cancel(id).catch(() => undefined); // The next listing shows it again.
    return {
      ...job,
      request: {
        ...request,
        status: 'ended',
        startsAt: 0,
        endedAt: this.#options.now() + this.#clockOffset,
        endReason: `it can never start: ${reason}`,
      },
    };
  }

  /**
   * Of a job that failed, the end of what it wrote says why: for example that the agent's program cannot run on the
   * nodes.
   */
  #withLastWords({ request, reason }: SlurmJob): QueuedRequest {
    const hasFailed =
      reason === 'NonZeroExitCode' || reason === 'JobLaunchFailure' || request.endReason.startsWith('FAILED');
    const words = hasFailed ? (this.#files?.lastWords(request.clientRequestId.replaceAll(/[^\w.-]/g, '_')) ?? '') : '';
    return words === '' ? request : { ...request, endReason: `${request.endReason}: ${words}` };
  }
}

/**
 * A path as sbatch takes it literally: `%` stands for parts of the job, and a backslash anywhere means that none does.
 */
function escapePath(path: string): string {
  return path.includes('\\') ? path.replaceAll('\\', '\\\\') : path.replaceAll('%', '%%');
}

/**
 * Whether one of our jobs belongs to the queue of a partition. Requests do wherever they are: a provider may have been
 * given another partition since it asked.
 */
function isOfQueue({ partitions, request }: SlurmJob, partition: string): boolean {
  return partitions.includes(partition) || /^[\w-]+\.q\d+$/.test(request.clientRequestId);
}

function getJobs(listing: JobListing): readonly SlurmJob[] {
  if (listing.kind === 'jobs') return listing.jobs;
  throw new MutiraoError('MUT_UNREACHABLE', `squeue did not print jobs: ${listWords(listing.line)}`);
}
