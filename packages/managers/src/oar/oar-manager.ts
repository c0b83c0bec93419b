import { MutiraoError, type ErrorCode } from '@mutirao/api/errors';
import type { QueuedRequest, QueueListing, ResourceLimits } from '@mutirao/core/messages';
import type { Duration, Instant, ProcessorCount } from '@mutirao/core/shared';
import { quoteWord } from '@mutirao/runtime/processes';
import { CancelQueue } from '../cancel-queue.ts';
import { EndedJobs, endingFacts } from '../ended-jobs.ts';
import { JobFiles } from '../job-files.ts';
import { renderProcesses } from '../render-processes.ts';
import type { AllocationOrder, ResourceManager } from '../resource-manager.ts';
import { listWords, type ToolAnswer } from '../run-tool.ts';
import { requireKey, TriedKeys } from '../tried-keys.ts';
import { WidthMemory } from '../width-memory.ts';
import { renderJob } from './job-script.ts';
import { OarCommands, getRefusalWords } from './oar-commands.ts';
import { OarReservations, walltimeInside } from './oar-reservations.ts';
import {
  namePrefix,
  parseJobs,
  parseResources,
  findOutlasting,
  findQueue,
  formatSpan,
  type OarJob,
} from './parse-oar.ts';
import { readUserFlags, findWhereFlags } from './user-flags.ts';

/** How to use an OAR. */
export interface OarOptions {
  /** Whose jobs are ours: the user that this process runs as. */
  readonly user: string;
  /** Flags passed to each `oarsub` before ours. */
  readonly flags: readonly string[];
  /** Requests that may be queued or running at a time; OAR's own limits are met as refusals. */
  readonly requestsMax: number;
  /** Longest walltime to ask for; 0 for 7 days, since OAR reports no limit. */
  readonly walltimeMax: Duration;
  /** Most processors of one request; as many as there are when 0 or left out. */
  readonly widthMax?: ProcessorCount;
  /** For programs of jobs and what they write, on a disk that the nodes share with us. */
  readonly jobFolder: string;
  /**
   * What comes before our number in the names of OAR's reservations, and what the resource is called at its
   * reservation manager; left out where none are made.
   */
  readonly reservations?: { readonly prefix: string; readonly resourceId: string };
  /** Of each call of a command. */
  readonly deadlineMs: Duration;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch. */
  now(): Instant;
}

const second: Duration = 1000;
const walltimeMaxUnlimited: Duration = 7 * 24 * 3600 * second;

/** OAR as a resource manager, through its commands. One job for each request; a resource of OAR is a processor. */
export class OarManager implements ResourceManager {
  readonly #options: OarOptions;
  readonly #commands: OarCommands;
  readonly #cancels: CancelQueue;
  readonly #files: JobFiles;
  readonly #ended: EndedJobs;
  readonly #keys = new TriedKeys();
  readonly #flags: readonly string[];
  readonly #widths = new WidthMemory();
  readonly siteReservations?: OarReservations;
  readonly reservationResource?: string;

  /** @throws {MutiraoError} MUT_BAD_CONFIG for flags that would be in the way. */
  constructor(options: OarOptions) {
    this.#options = options;
    this.#flags = readUserFlags(options.flags);
    this.#commands = new OarCommands(options);
    this.#cancels = new CancelQueue((ids) => this.#cancel(ids));
    this.#files = new JobFiles(options.jobFolder);
    this.#ended = new EndedJobs(this.#files, options.user);
    const { reservations, user, now } = options;
    if (reservations === undefined) return;
    this.reservationResource = reservations.resourceId;
    this.siteReservations = new OarReservations({
      commands: this.#commands,
      prefix: reservations.prefix,
      user,
      where: findWhereFlags(this.#flags),
      jobs: () => this.#list(),
      now,
    });
  }

  get hasNewLimits(): boolean {
    return this.#widths.hasChanged;
  }

  async allocate(order: AllocationOrder): Promise<string> {
    const { clientRequestId: key } = order;
    requireKey(key);
    const known = this.#keys.has(key)
      ? (await this.#list()).find(({ request }) => request.clientRequestId === key)?.request.managerRequestId
      : undefined;
    if (known !== undefined) return known;
    const container = await this.#getContainer(order);
    this.#keys.remember(key);
    this.#files.prune(this.#ended.aliveKeys);
    const answer = await this.#commands.run('oarsub', this.#submitWords(order, container));
    const [, id] = /^OAR_JOB_ID=(\d+)$/m.exec(answer.stdout) ?? [];
    if (answer.status !== 0) throw this.#getRefusal(answer, order);
    if (id === undefined)
      throw new MutiraoError('MUT_UNREACHABLE', `oarsub did not print a job number: ${listWords(answer.stdout)}`);
    return id;
  }

  async release(managerRequestId: string): Promise<void> {
    if (/^\d{1,9}$/.test(managerRequestId)) await this.#cancels.cancel(managerRequestId);
  }

  async limits(): Promise<ResourceLimits> {
    const { alive, known } = await this.#resources();
    // Where nothing is alive now, all of it may be later; and nothing at all would never be asked for again.
    const processors = alive === 0 ? known : alive;
    const { walltimeMax, widthMax, requestsMax, now } = this.#options;
    return {
      processors,
      widthMax: this.#widths.bound(Math.min(processors, widthMax || Infinity), now()),
      requestsMax,
      walltimeMax: walltimeMax === 0 ? walltimeMaxUnlimited : walltimeMax,
      walltimeGranularity: second,
    };
  }

  async queue(endedMax: number): Promise<QueueListing> {
    const at = this.#options.now();
    const { alive } = await this.#resources();
    const jobs = await this.#list();
    const outlasting = this.#giveUpOutlasting(jobs, at);
    const listed = findQueue(jobs).filter(({ managerRequestId }) => !outlasting.has(managerRequestId));
    const { kept, twins } = this.#keys.withoutTwins(listed.map((request) => ({ request })));
    // The next listing shows it again.
    for (const { request } of twins) this.#cancels.cancel(request.managerRequestId).catch(() => undefined);
    const requests = kept.map(({ request }) => request);
    const ended = this.#ended.follow(
      requests.filter(({ clientRequestId }) => clientRequestId !== ''),
      at,
    );
    const held = requests.reduce((sum, { status, width }) => sum + (status === 'running' ? width : 0), 0);
    const over = [
      ...outlasting.values(),
      ...ended.filter(({ managerRequestId }) => !outlasting.has(managerRequestId)),
    ].slice(0, endedMax);
    return { at, processorsFree: Math.max(0, alive - held), requests: [...requests, ...over] };
  }

  /**
   * OAR keeps a job waiting that no longer fits into what is left of its container, as when it began late. It is reported
   * as ended, and cancelled where this process asked for it, so that a shorter one is asked for.
   */
  #giveUpOutlasting(jobs: readonly OarJob[], at: Instant): ReadonlyMap<string, QueuedRequest> {
    const ended = new Map<string, QueuedRequest>();
    for (const request of findOutlasting(jobs, at)) {
      const { managerRequestId: id, clientRequestId: key } = request;
      ended.set(id, {
        ...request,
        status: 'ended',
        startsAt: 0,
        endedAt: at,
        endReason: 'it can never start: its walltime is longer than what is left of the reservation',
      });
      // The next listing shows it again.
      if (this.#keys.has(key)) this.#cancels.cancel(id).catch(() => undefined);
    }
    return ended;
  }

  watch(): void {
    // OAR gives no hints to users.
  }

  close(): void {
    this.#commands.close();
  }

  /** The job that the order's reservation is; undefined for an order without one. */
  async #getContainer({ reservation, width }: AllocationOrder): Promise<string | undefined> {
    return reservation === undefined
      ? undefined
      : this.siteReservations?.getContainer(reservation.reservationId, width);
  }

  #getWalltime({ walltime, reservation }: AllocationOrder): Duration {
    return reservation === undefined
      ? Math.max(1, Math.ceil(walltime / second)) * second
      : walltimeInside({ walltime, reservation }, this.#options.now());
  }

  #submitWords(order: AllocationOrder, container: string | undefined): string[] {
    const { clientRequestId: key, width, workingDirectory } = order;
    const walltime = this.#getWalltime(order);
    const log = this.#files.logPath(key);
    const oarLog = canWrite(log) ? log : '/dev/null';
    return [
      ...this.#flags,
      ...(container === undefined ? [] : ['-t', `inner=${container}`]),
      '-n',
      `${namePrefix}${key}`,
      '-l',
      `/resource_id=${width},walltime=${formatSpan(walltime / second)}`,
      '-d',
      workingDirectory === '' ? '/tmp' : workingDirectory,
      '-O',
      oarLog,
      '-E',
      oarLog,
      `/bin/sh ${quoteWord(this.#writeScript(order, walltime))}`,
    ];
  }

  /** Everybody can read the command of a job: what is secret is in files that only their owner can read. */
  #writeScript(order: AllocationOrder, walltime: Duration): string {
    const { clientRequestId: key, width } = order;
    const log = this.#files.logPath(key);
    const process = this.#files.writeProgram(key, 'process', renderProcesses(order, walltime));
    return this.#files.writeProgram(
      key,
      'job',
      renderJob(
        { process, ending: this.#files.endingPath(key), ...(canWrite(log) ? {} : { log }) },
        endingFacts({ width, walltime }, this.#options.now()),
      ),
    );
  }

  /** A width that is refused as such is not asked for again and again: half of it is the most from then on. */
  #getRefusal(answer: ToolAnswer, { width }: AllocationOrder): MutiraoError {
    const words = getRefusalWords(answer);
    const code = refusals.find(([pattern]) => pattern.test(words))?.[1] ?? 'MUT_BAD_REQUEST';
    if (code === 'MUT_WIDTH_MAX') this.#widths.refuse(width, this.#options.now());
    return new MutiraoError(code, `oarsub: ${words}`);
  }

  async #resources(): Promise<{ readonly alive: ProcessorCount; readonly known: ProcessorCount }> {
    const output = await this.#commands.read('oarnodes', ['-J']);
    const resources = parseResources(output);
    if (resources === undefined)
      throw new MutiraoError('MUT_UNREACHABLE', `oarnodes did not print resources: ${listWords(output)}`);
    return resources;
  }

  async #list(): Promise<readonly OarJob[]> {
    const jobs = parseJobs(await this.#commands.read('oarstat', ['-J', '--full']), this.#options.user);
    if (typeof jobs === 'string')
      throw new MutiraoError('MUT_UNREACHABLE', `oarstat did not print jobs: ${listWords(jobs)}`);
    return jobs;
  }

  async #cancel(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const refused = await this.#commands.delete(ids);
    for (const id of ids) this.#ended.noteRelease(id);
    return refused;
  }
}

/** Words of `oarsub`; the first that match decide, and what is not known counts as refused. */
const refusals: readonly (readonly [RegExp, ErrorCode])[] = [
  [/invalid container id/i, 'MUT_NO_ROOM'],
  [/not enough resources/i, 'MUT_WIDTH_MAX'],
  [/walltime.*(?:exceed|too (?:big|long|large))|exceed.*walltime/i, 'MUT_WALLTIME_MAX'],
  [/too many jobs|maximum (?:number )?of jobs|quota/i, 'MUT_REQUESTS_MAX'],
];

/** Whether OAR writes a job's output to that path: it refuses most characters, and puts other words for `%`. */
function canWrite(path: string): boolean {
  return /^[\w./ -]+$/.test(path);
}
