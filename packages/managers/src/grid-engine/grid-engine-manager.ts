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
import { GridEngineCommands, saidBy } from './grid-engine-commands.ts';
import { GridEngineReservations } from './grid-engine-reservations.ts';
import { renderJob } from './job-script.ts';
import { inOrder, namePrefix, parseJobs, type GridEngineJob } from './parse-jobs.ts';
import { readPlace, getUsable, getWidths, type Place } from './place.ts';
import { readUserFlags, type UserFlags } from './user-flags.ts';

/** How to use a Grid Engine. */
export interface GridEngineOptions {
  /** Whose jobs are ours: the user that this process runs as. */
  readonly user: string;
  /** One cluster queue; empty for all that have the parallel environment. */
  readonly queue: string;
  /** How jobs get several processors; empty for one that suits. */
  readonly parallelEnvironment: string;
  /** Flags passed to each `qsub` before ours. */
  readonly flags: readonly string[];
  /** Requests that may be queued or running at a time; Grid Engine's own limits are met as refusals. */
  readonly requestsMax: number;
  /** Longest walltime to ask for; 0 for the queues'. */
  readonly walltimeMax: Duration;
  /** Most processors of one request; as many as there are when 0 or left out. */
  readonly widthMax?: ProcessorCount;
  /** For programs of jobs and what they write, on a disk that the nodes share with us. */
  readonly jobFolder: string;
  /**
   * What comes before our number in the names of Grid Engine's reservations, and what the resource is called at its
   * reservation manager; left out where none are made.
   */
  readonly reservations?: { readonly prefix: string; readonly resourceId: string };
  /** Of each call of a command. */
  readonly deadlineMs: Duration;
  /** With PATH, SGE_ROOT and SGE_CELL. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Milliseconds since the epoch. */
  now(): Instant;
}

const second: Duration = 1000;
/** What is asked for at most where the queues have no limit. */
const walltimeMaxUnlimited: Duration = 7 * 24 * 3600 * second;

/**
 * Grid Engine as a resource manager, through its commands. One job for each request, which runs the order's command
 * once per slot.
 */
export class GridEngineManager implements ResourceManager {
  readonly #options: GridEngineOptions;
  readonly #commands: GridEngineCommands;
  readonly #cancels: CancelQueue;
  readonly #files: JobFiles;
  readonly #ended: EndedJobs;
  readonly #keys = new TriedKeys();
  readonly #flags: UserFlags;
  readonly #queue: string;
  readonly #widths = new WidthMemory();
  readonly siteReservations?: GridEngineReservations;
  readonly reservationResource?: string;
  #place: Place | undefined;
  #walltimeMaxLast: Duration = Infinity;

  /** @throws {MutiraoError} MUT_BAD_CONFIG for flags that would be of no effect or in the way. */
  constructor(options: GridEngineOptions) {
    this.#options = options;
    this.#flags = readUserFlags(options.flags, options.queue);
    this.#queue = this.#flags.queue ?? '';
    this.#commands = new GridEngineCommands(options);
    this.#cancels = new CancelQueue((ids) => this.#cancel(ids));
    this.#files = new JobFiles(options.jobFolder);
    this.#ended = new EndedJobs(this.#files, options.user);
    const { reservations, user, now } = options;
    if (reservations === undefined) return;
    this.reservationResource = reservations.resourceId;
    this.siteReservations = new GridEngineReservations({
      commands: this.#commands,
      prefix: reservations.prefix,
      user,
      where: () => this.#whereFlags(),
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
      ? (await this.#ownJobs()).find(({ request }) => request.clientRequestId === key)?.id
      : undefined;
    if (known !== undefined) return known;
    const flags = await this.#submitFlags(order);
    this.#keys.remember(key);
    this.#files.prune(this.#ended.aliveKeys);
    const { status, stdout, stderr } = await this.#commands.run('qsub', flags, this.#writeScript(order));
    if (status !== 0) throw this.#getRefusal({ status, stdout, stderr }, order);
    const [, id] = /^(\d+)\s*$/m.exec(stdout) ?? [];
    if (id === undefined)
      throw new MutiraoError('MUT_UNREACHABLE', `qsub did not print a job number: ${listWords(stdout)}`);
    return id;
  }

  async release(managerRequestId: string): Promise<void> {
    if (/^\d{1,15}$/.test(managerRequestId)) await this.#cancels.cancel(managerRequestId);
  }

  async limits(): Promise<ResourceLimits> {
    const place = await this.#readPlace();
    const { widthMax, ...granularity } = getWidths(place);
    const bound = this.#widths.bound(Math.min(widthMax, this.#options.widthMax || Infinity), this.#options.now());
    const allowed = place.walltimeMax ?? walltimeMaxUnlimited;
    const walltimeMax = this.#options.walltimeMax === 0 ? allowed : Math.min(allowed, this.#options.walltimeMax);
    this.#walltimeMaxLast = allowed;
    return {
      processors: getUsable(place),
      widthMax: bound,
      ...granularity,
      requestsMax: this.#options.requestsMax,
      walltimeMax,
      walltimeGranularity: second,
    };
  }

  async queue(endedMax: number): Promise<QueueListing> {
    const known = this.#place ?? (await this.#readPlace());
    const at = this.#options.now();
    const everybody = getJobs(
      parseJobs(
        await this.#commands.readXml('qstat', [
          '-u',
          '*',
          '-s',
          'prs',
          '-r',
          '-g',
          'd',
          ...(this.#queue === '' ? [] : ['-q', this.#queue]),
        ]),
        this.#options.user,
      ),
    );
    const place = await this.#readPlace(known);
    // Ours last: a request that starts or ends in between is reported in its later state.
    const own = await this.#ownJobs();
    return {
      at,
      processorsFree: place.instances.reduce((sum, { free }) => sum + free, 0),
      requests: await this.#merge(everybody, own, { endedMax, at }),
    };
  }

  /** It makes reservations for its managers and for the users of the list `arusers`. */
  async mayReserve(): Promise<boolean | undefined> {
    const { user } = this.#options;
    try {
      const managers = await this.#commands.read('qconf', ['-sm']);
      if (managers.split(/\s+/).includes(user)) return true;
      const { status, stdout } = await this.#commands.run('qconf', ['-su', 'arusers']);
      const entries = /^entries\s+(.*)$/m.exec(stdout)?.[1]?.split(/[\s,]+/) ?? [];
      // Of groups nothing is known here.
      return status === 0 && entries.includes(user)
        ? true
        : entries.some((entry) => entry.startsWith('@'))
          ? undefined
          : false;
    } catch {
      return undefined;
    }
  }

  watch(): void {
    // Grid Engine gives no hints to users.
  }

  close(): void {
    this.#commands.close();
  }

  async #readPlace(known?: Place): Promise<Place> {
    const { parallelEnvironment, user } = this.#options;
    this.#place = await readPlace(this.#commands, {
      queue: this.#queue,
      parallelEnvironment,
      user,
      ...(known === undefined ? {} : { known }),
    });
    return this.#place;
  }

  /** Flags of `qsub` and `qrsub` that name the queue. */
  async #whereFlags(): Promise<{ readonly environment: string; readonly queue: readonly string[] }> {
    const { environment } = this.#place ?? (await this.#readPlace());
    return { environment: environment?.name ?? '', queue: this.#queue === '' ? [] : ['-q', this.#queue] };
  }

  async #submitFlags({
    clientRequestId: key,
    width,
    workingDirectory,
    walltime,
    reservation,
  }: AllocationOrder): Promise<string[]> {
    const { environment, queue } = await this.#whereFlags();
    const { flags, names } = this.#flags;
    const reserved =
      reservation === undefined ? undefined : await this.siteReservations?.getNumber(reservation.reservationId);
    return [
      ...flags,
      '-terse',
      '-hard',
      '-N',
      `${namePrefix}${key}`,
      ...(environment === '' ? [] : ['-pe', environment, String(width)]),
      ...queue,
      '-l',
      `h_rt=${findSeconds(walltime, reservation !== undefined)}`,
      ...(reserved === undefined ? [] : ['-ar', reserved]),
      '-b',
      'n',
      '-sync',
      'n',
      '-S',
      '/bin/sh',
      '-wd',
      workingDirectory === '' ? '/tmp' : workingDirectory,
      '-o',
      isPlainPath(this.#files.logPath(key)) ? this.#files.logPath(key) : '/dev/null',
      '-j',
      'y',
      ...(names.has('r') ? [] : ['-r', 'n']),
      ...(names.has('w') ? [] : ['-w', 'e']),
    ];
  }

  /**
   * Scripts can be read by everybody on the master and the nodes: what is secret is in files that only their owner can
   * read.
   */
  #writeScript(order: AllocationOrder): string {
    const { clientRequestId: key, width, walltime, reservation } = order;
    const walltimeMs = findSeconds(walltime, reservation !== undefined) * second;
    const process = this.#files.writeProgram(key, 'process', renderProcesses(order, walltimeMs));
    const job = this.#files.writeProgram(
      key,
      'job',
      renderJob(
        { process, ending: this.#files.endingPath(key) },
        endingFacts({ width, walltime: walltimeMs }, this.#options.now()),
      ),
    );
    const log = this.#files.logPath(key);
    const redirection = isPlainPath(log) ? '' : ` >>${quoteWord(log)} 2>&1`;
    return `#!/bin/sh\nexec /bin/sh ${quoteWord(job)}${redirection}\n`;
  }

  /** A width that is refused as such is not asked for again and again: half of it is the most from then on. */
  #getRefusal(answer: ToolAnswer, { width, walltime, reservation }: AllocationOrder): MutiraoError {
    const words = saidBy(answer);
    const code = refusals.find(([pattern]) => pattern.test(words))?.[1] ?? 'MUT_BAD_REQUEST';
    if (code !== 'MUT_WIDTH_MAX') return new MutiraoError(code, `qsub: ${words}`);
    if (reservation !== undefined) return new MutiraoError('MUT_NO_ROOM', `qsub: ${words}`);
    if (walltime > this.#walltimeMaxLast) return new MutiraoError('MUT_WALLTIME_MAX', `qsub: ${words}`);
    if (width === 1) return new MutiraoError('MUT_BAD_REQUEST', `qsub: ${words}`);
    this.#widths.refuse(width, this.#options.now());
    return new MutiraoError(code, `qsub: ${words}`);
  }

  async #ownJobs(): Promise<readonly GridEngineJob[]> {
    return getJobs(
      parseJobs(
        await this.#commands.readXml('qstat', ['-u', this.#options.user, '-s', 'prs', '-r', '-g', 'd']),
        this.#options.user,
      ),
    );
  }

  async #cancel(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { status, stdout, stderr } = await this.#commands.run('qdel', ids);
    for (const id of ids) this.#ended.noteRelease(id);
    if (status === 0) return new Map();
    const failures = new Map<string, string>();
    for (const line of `${stdout}\n${stderr}`.split('\n')) {
      const [, id] = /job "?(\d+)"?/.exec(line) ?? [];
      if (id !== undefined && ids.includes(id) && !harmless.test(line)) failures.set(id, `qdel: ${line.trim()}`);
    }
    return failures;
  }

  async #merge(
    everybody: readonly GridEngineJob[],
    own: readonly GridEngineJob[],
    { endedMax, at }: { readonly endedMax: number; readonly at: Instant },
  ): Promise<QueuedRequest[]> {
    const { kept, twins } = this.#keys.withoutTwins(own);
    for (const { id } of twins) this.#cancels.cancel(id).catch(() => undefined); // The next listing shows it again.
    const broken = await this.#giveUpBroken(
      kept.filter(({ isBroken, request }) => isBroken && request.clientRequestId !== ''),
      at,
    );
    const sound = kept.filter(({ id }) => !broken.has(id));
    const [ours, listed] = [new Set(own.map(({ id }) => id)), new Set(everybody.map(({ id }) => id))];
    const ended = this.#ended.follow(
      sound.filter(({ request }) => request.clientRequestId !== '').map(({ request }) => request),
      at,
    );
    // Requests are listed wherever they are: a provider may have been given another queue since it asked.
    const alive = inOrder([
      ...everybody.filter(({ id }) => !ours.has(id)),
      ...sound.filter(({ id, request }) => request.clientRequestId !== '' || listed.has(id)),
    ]);
    return [
      ...alive.map(({ request }) => request),
      ...[...broken.values(), ...ended.filter(({ managerRequestId }) => !broken.has(managerRequestId))].slice(
        0,
        endedMax,
      ),
    ];
  }

  /**
   * A job in an error state would hold its slot for ever: it is reported as ended, with the words of the node that could
   * not start it, and cancelled where this process asked for it.
   */
  async #giveUpBroken(jobs: readonly GridEngineJob[], at: Instant): Promise<ReadonlyMap<string, QueuedRequest>> {
    const ended = new Map<string, QueuedRequest>();
    for (const { id, request } of jobs) {
      const words = await this.#commands
        .run('qstat', ['-j', id])
        .then(({ stdout }) => /^error reason\s.*?:\s+(.*)$/m.exec(stdout)?.[1] ?? '');
      ended.set(id, {
        ...request,
        status: 'ended',
        startsAt: 0,
        endedAt: at,
        endReason: `FAILED, it cannot start: ${words}`,
      });
      // The next listing shows it again.
      if (this.#keys.has(request.clientRequestId)) this.#cancels.cancel(id).catch(() => undefined);
    }
    return ended;
  }
}

/**
 * What is asked of Grid Engine: whole seconds, rounded up, or down inside a reservation, beyond whose end nothing can
 * be had.
 */
function findSeconds(walltime: Duration, isReserved: boolean): number {
  return Math.max(1, isReserved ? Math.floor(walltime / second) : Math.ceil(walltime / second));
}

/** Whether qsub takes a path literally: hosts stand before a colon, further paths behind a comma, variables behind `$`. */
function isPlainPath(path: string): boolean {
  return !/[:,$]/.test(path);
}

/** Words of `qsub`; the first that match decide, and what is not known counts as refused. */
const refusals: readonly (readonly [RegExp, ErrorCode])[] = [
  [/advance reservation/i, 'MUT_NO_ROOM'],
  [/only \d+ jobs are allowed/i, 'MUT_REQUESTS_MAX'],
  [/no suitable queues/i, 'MUT_WIDTH_MAX'],
];

/** Words of `qdel` about jobs that are over, never were, or end already. */
const harmless = /does not exist|already in deletion|registered the job|has deleted job/i;

function getJobs(listing: readonly GridEngineJob[] | string): readonly GridEngineJob[] {
  if (typeof listing !== 'string') return listing;
  throw new MutiraoError('MUT_UNREACHABLE', `qstat did not print jobs: ${listWords(listing)}`);
}
